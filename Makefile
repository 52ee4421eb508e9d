# Everything sets itself up: the virtual environment, the agent CLIs the tests run, and system parts where it may.
# `make demo` and `make test` work on a fresh machine with Python 3.11-3.13; PYTHON chooses another one.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
CLIENTS := tests/clients/node_modules/.installed
PINS := -c constraints.txt --build-constraint constraints.txt
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup

.PHONY: help demo test fast check bench docs constraints clean

help: ## Say what there is to make.
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(RUNTIME) ## Run the example skill with a simulated agent: seconds, no account, no network.
	$(BIN)/assay demo

test: $(DEV) $(CLIENTS) ## Run all tests, real agent CLIs included, and list what was skipped.
	sh tools/system_parts.sh
	$(PYTEST)

fast: $(DEV) ## Run the tests that take no more than a second or two each.
	$(PYTEST) -m "not slow and not client and not browser"

check: $(DEV) ## Lint, format, types, layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV) ## Measure our own speed and print medians.
	$(BIN)/python benches/run.py

docs: $(DEV) ## Write the pages that are read off the code, and the pictures of a run.
	$(BIN)/python tools/make_reference.py
	$(BIN)/python tools/make_images.py

constraints: $(DEV) ## Write constraints.txt from what is installed, after a deliberate upgrade.
	$(BIN)/python tools/make_constraints.py

clean: ## Remove all that was made here.
	rm -rf $(VENV) tests/clients/node_modules .demo build dist CHANGELOG.draft.md
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests tools benches -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.pip: constraints.txt
	@$(PYTHON) tools/check_python.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq -c constraints.txt pip
	@touch $@

$(RUNTIME): $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install -qq $(PINS) -e .
	@touch $@

$(DEV): $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install -qq $(PINS) -e '.[api,documents]' --group dev
	@touch $(RUNTIME) $@

$(CLIENTS): tests/clients/package-lock.json
	sh tools/test_clients.sh
