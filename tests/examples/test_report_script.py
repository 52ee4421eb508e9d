"""The example skill's own script is right: on its fixtures, and on values that trip others up."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "expense-report"
SCRIPT = EXAMPLE / "scripts" / "report.py"
FILES = EXAMPLE / "evals" / "files"
RUNS = {
    "messy-dates": ["quarter.csv", "--base", "EUR"],
    "two-currencies": ["card.csv", "--base", "EUR", "--rates", "rates.csv"],
    "refund-rows": ["shop.csv"],
    "repeated-rows": ["export.csv"],
    "bank-statement": ["bank.csv"],
    "two-months": ["august.csv", "september.csv", "--base", "EUR"],
    "poor-scans": ["scans.csv"],
    "clean-table": ["ledger.csv", "--clean", "clean.csv"],
}


@pytest.fixture(scope="module")
def report() -> ModuleType:
    spec = importlib.util.spec_from_file_location("report", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["report"] = module
    spec.loader.exec_module(module)
    return module


def made(report: ModuleType, tmp_path: Path, text: str | bytes, *options: str) -> dict[str, Any]:
    source = tmp_path / "in.csv"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    report.main([str(source), "--out", str(tmp_path / "out"), *options])
    summary: dict[str, Any] = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    return summary


@pytest.mark.parametrize("name", RUNS)
def test_it_makes_the_reference(report: ModuleType, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FILES)
    assert report.main([*RUNS[name], "--out", str(tmp_path)]) == 0
    reference = EXAMPLE / "evals" / "references" / name
    wanted = {path.name: path.read_bytes() for path in reference.iterdir() if path.name != "answer.md"}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == wanted


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("1.234,50", "1234.50", None),
        ("1,234.50", "1234.50", None),
        ("1'234.50", "1234.50", None),
        ("1 234,5", "1234.5", None),
        ("1\u202f234,50 €", "1234.50", "EUR"),
        ("1,234,567", "1234567", None),
        ("1.234.567,89", "1234567.89", None),
        ("1,234", "1234", None),
        ("12,34", "12.34", None),
        ("$12", "12", "USD"),
        ("-45.10", "-45.10", None),
        ("\u221245.10", "-45.10", None),
        ("45.10-", "-45.10", None),
        ("($45.10)", "-45.10", "USD"),
        ("usd 9.99", "9.99", "USD"),
        ("0.005", "0.005", None),
        ("0,125", "0.125", None),
        ("1234.567", "1234.567", None),
    ],
)
def test_amounts(report: ModuleType, text: str, amount: str, currency: str | None) -> None:
    assert report.parse_amount(text) == (Decimal(amount), currency)


@pytest.mark.parametrize("text", ["", "n/a", "4.5O", "12..5", "1e5", "--", "12 of 13x", "٣"])
def test_an_amount_that_would_have_to_be_guessed_is_refused(report: ModuleType, text: str) -> None:
    with pytest.raises(report.UnreadableError):
        report.parse_amount(text)


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-03",
        "2025/02/03",
        "20250203",
        "03/02/2025",
        "3/2/25",
        "3.2.2025",
        "03-02-2025",
        "3 Feb 2025",
        "3rd February 2025",
        "03-Feb-25",
        "Feb 3, 2025",
        "February 3rd 2025",
        "2025-02-03T10:00:00",
        "2025-02-03 10:00",
    ],
)
def test_dates(report: ModuleType, text: str) -> None:
    assert report.parse_date(text, True).isoformat() == "2025-02-03"


@pytest.mark.parametrize(
    "text", ["2025-13-01", "31/02/2025", "3 Foo 2025", "Feb 2025", "yesterday", "2025-02-0?", "45"]
)
def test_a_date_that_would_have_to_be_guessed_is_refused(report: ModuleType, text: str) -> None:
    with pytest.raises(report.UnreadableError):
        report.parse_date(text, True)


def test_the_other_dates_of_the_file_say_whether_months_come_first(report: ModuleType, tmp_path: Path) -> None:
    summary = made(report, tmp_path, "date,amount\n02/03/2025,1\n11/25/2025,2\n")
    assert summary["by_month"] == {"2025-02": 1.0, "2025-11": 2.0}
    summary = made(report, tmp_path, "date,amount\n02/03/2025,1\n25/11/2025,2\n")
    assert summary["by_month"] == {"2025-03": 1.0, "2025-11": 2.0}


def test_a_rate_is_never_read_as_thousands(report: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text("currency,rate\nUSD,0.925\nGBP,1.135\n", encoding="utf-8")
    text = "date,amount,currency\n2025-01-01,100,USD\n2025-01-01,100,GBP\n"
    summary = made(report, tmp_path, text, "--base", "EUR", "--rates", str(tmp_path / "rates.csv"))
    assert summary["total"] == 206.0


def test_sums_are_exact(report: ModuleType, tmp_path: Path) -> None:
    rows = "".join(f"2025-01-01,0.1,no {number}\n" for number in range(1000))
    assert made(report, tmp_path, "date,amount,description\n" + rows)["total"] == 100.0


def test_a_missing_rate_gives_no_total_and_status_3(
    report: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.csv"
    source.write_text("date,amount,currency\n2025-01-01,5,EUR\n2025-01-02,7,USD\n2025-01-03,1,EUR\n", encoding="utf-8")
    assert report.main([str(source), "--out", str(tmp_path)]) == 3
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (summary["total"], summary["by_category"]) == (None, None)
    assert summary["totals_by_currency"] == {"EUR": 6.0, "USD": 7.0}
    assert "USD" in capsys.readouterr().err
    assert "not known" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert report.main([str(source), "--out", str(tmp_path), "--rate", "usd=0.5"]) == 0
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["total"] == 9.5


def test_refunds_by_type_by_description_and_by_sign(report: ModuleType, tmp_path: Path) -> None:
    text = "date,type,description,amount\n2025-01-01,refund,a,5\n2025-01-01,,Refund b,7\n2025-01-01,,c,-1\n"
    text += "2025-01-01,purchase,Refund forms,20\n2025-01-01,credit card,d,30\n"
    summary = made(report, tmp_path, text)
    assert (summary["refunds"], summary["total"]) == (-13.0, 37.0)


def test_duplicates_can_be_kept(report: ModuleType, tmp_path: Path) -> None:
    text = "date,amount,description\n2025-01-01,5,Bus\n2025-01-01,5,bus \n"
    assert made(report, tmp_path, text)["total"] == 5.0
    assert made(report, tmp_path, text, "--keep-duplicates")["total"] == 10.0


def test_quotes_line_ends_byte_order_mark_and_short_rows(report: ModuleType, tmp_path: Path) -> None:
    text = '\ufeffdate,merchant,amount\r\n2025-01-01,"Nails, screws\nand more",1.50\r\n\r\n2025-01-02\r\n'
    summary = made(report, tmp_path, text)
    assert summary["total"] == 1.5
    assert [item["reason"] for item in summary["left_out"]] == ["amount '' can't be read"]


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "date,amount\n", "date,amount\nx,y\n"])
def test_nothing_to_add_up_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "in.csv").write_text(content, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, "in.csv"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "summary.json").exists()
