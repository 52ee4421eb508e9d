"""Write constraints.txt: names and versions only, read from this virtual environment.

Run after a deliberate upgrade (`make constraints`). The file pins what one environment holds; a package that only
another Python or another system needs stays unpinned, and `pip install` still finds it.
"""

from __future__ import annotations

import sys
from importlib.metadata import distributions
from pathlib import Path

PROJECT = "skill-assay"
BUILD = {"hatchling": "1.33.0"}
"""What builds the project; it lives in pip's own build environment and is in no list of installed packages."""
HEADER = """\
# Names and versions only; no addresses, no hashes. Written by tools/make_constraints.py (`make constraints`).
"""


def pins() -> dict[str, str]:
    """Name to version of everything installed here but the project, by the name's normal form."""
    found = {dist.metadata["Name"].lower().replace("_", "-"): dist.version for dist in distributions()}
    found.pop(PROJECT, None)
    found.pop("setuptools", None)
    return BUILD | found


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "constraints.txt")
    lines = [f"{name}=={version}\n" for name, version in sorted(pins().items())]
    target.write_text(HEADER + "".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
