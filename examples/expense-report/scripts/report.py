#!/usr/bin/env python3
"""A clean expense report from messy CSV exports: report.md for people, summary.json for programs.

    python3 report.py EXPENSES.csv [MORE.csv …] [--base EUR] [--rates rates.csv] [--rate USD=0.92]
                      [--out DIR] [--clean clean.csv] [--keep-duplicates]

Nothing is guessed: a row that can't be read is left out and listed with its line and the reason.
Exit status: 0 done; 2 no usable table or a wrong option; 3 done, but an exchange rate is missing, so that there
is no overall total. Standard library only.
"""

import argparse
import csv
import io
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

COLUMNS = {
    "date": ("date", "day", "when", "transaction date", "booking date", "posted", "datum", "buchungstag"),
    "amount": ("amount", "total", "price", "cost", "sum", "value", "betrag"),
    "currency": ("currency", "cur", "ccy", "währung", "waehrung"),
    "category": ("category", "kind", "account", "tag", "kategorie"),
    "description": ("description", "merchant", "vendor", "what", "item", "details", "text", "beschreibung", "zweck"),
    "type": ("type", "transaction type", "art"),
}
SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "zł": "PLN"}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
REFUND_TYPES = ("refund", "credit", "reversal", "return")
NO_CURRENCY = "unspecified"
CENT = Decimal("0.01")


@dataclass(frozen=True)
class Row:
    """One expense that counts."""

    file: str
    line: int
    date: date
    amount: Decimal
    currency: str
    category: str
    description: str

    @property
    def identity(self):
        words = " ".join(self.description.lower().split())
        return (self.date, self.amount, self.currency, self.category.lower(), words)


@dataclass(frozen=True)
class LeftOut:
    """A row that does not count, and why."""

    file: str
    line: int
    reason: str


class UnreadableError(ValueError):
    """A value that can't be read without guessing."""


# ---- reading values


def parse_amount(text):
    """`(amount, currency or None)`: `1.234,50`, `1,234.50`, `€ 12`, `USD 9.99`, `(45.00)`, `45.00-`."""
    rest, currency = text.strip(), None
    for symbol, code in SYMBOLS.items():
        if symbol in rest:
            rest, currency = rest.replace(symbol, ""), code
    if found := re.search(r"\b[A-Za-z]{3}\b", rest):
        rest, currency = rest.replace(found[0], ""), found[0].upper()
    rest = re.sub(r"[\s\u00a0\u202f']", "", rest).replace("\u2212", "-")
    negative = rest.startswith("-") or rest.endswith("-") or (rest.startswith("(") and rest.endswith(")"))
    rest = rest.strip("-+()")
    if not re.fullmatch(r"[0-9]+(?:[.,][0-9]+)*", rest):
        raise UnreadableError(f"amount {text.strip()!r} can't be read")
    try:
        value = Decimal(_plain_number(rest))
    except InvalidOperation:
        raise UnreadableError(f"amount {text.strip()!r} can't be read") from None
    return (-value if negative else value), currency


def _plain_number(digits):
    """Decides which separator is the decimal one: the last of two kinds; a single one unless three digits follow."""
    kinds = {character for character in digits if character in ".,"}
    if not kinds:
        return digits
    last = max(digits.rfind("."), digits.rfind(","))
    thousands = re.fullmatch(r"[1-9][0-9]{0,2}[.,][0-9]{3}", digits)
    if len(kinds) == 1 and (thousands or digits.count(digits[last]) > 1):
        return re.sub(r"[.,]", "", digits)
    return re.sub(r"[.,]", "", digits[:last]) + "." + digits[last + 1 :]


def parse_rate(text):
    """A plain number: no thousands here, so `0.925` and `1,135` are what they look like."""
    if not re.fullmatch(r"[0-9]+(?:[.,][0-9]+)?", text.strip()):
        raise UnreadableError(f"exchange rate {text.strip()!r} can't be read")
    return Decimal(text.strip().replace(",", "."))


def parse_date(text, day_first):
    """ISO, `3.2.2025`, `3/2/2025`, `3 Feb 2025`, `February 3, 2025`, `20250203`."""
    words = text.strip().split("T")[0] if re.match(r"\d{4}-", text.strip()) else text.strip()
    try:
        if found := re.match(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b", words) or re.fullmatch(
            r"(\d{4})(\d{2})(\d{2})", words
        ):
            return date(*map(int, found.groups()))
        if found := re.match(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{2}|\d{4})\b", words):
            first, separator, second, year = found.groups()
            day, month = (first, second) if day_first or separator == "." else (second, first)
            return date(_year(year), int(month), int(day))
        if found := re.match(r"(\d{1,2})(?:st|nd|rd|th)?[ .-]+([A-Za-z]{3,9})\.?,?[ -]+(\d{2}|\d{4})\b", words):
            return date(_year(found[3]), _month(found[2]), int(found[1]))
        if found := re.match(r"([A-Za-z]{3,9})\.? +(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})\b", words):
            return date(int(found[3]), _month(found[1]), int(found[2]))
    except ValueError:
        pass
    raise UnreadableError(f"date {text.strip()!r} can't be read")


def _month(name):
    return MONTHS.index(name[:3].lower()) + 1


def _year(digits):
    return int(digits) + 2000 if len(digits) == 2 else int(digits)


def is_day_first(dates):
    """Whether `3/2/2025` means the 3rd: what the unambiguous dates of the same file say, else yes."""
    day_first = month_first = 0
    for text in dates:
        if found := re.match(r"\s*(\d{1,2})[-/](\d{1,2})[-/]\d{2}", text):
            day_first += int(found[1]) > 12
            month_first += int(found[2]) > 12
    return day_first >= month_first


# ---- reading files


def read_table(path):
    """Header (our names → column index) and the rows below it with their line numbers."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    head = text[:4000]
    delimiter = max(",;\t|", key=lambda character: _tabular(head, character))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header, rows = None, []
    for cells in reader:
        if header is None:
            header = _header(cells)
        elif any(cell.strip() for cell in cells):
            rows.append((reader.line_num, cells))
    if header is None:
        raise UnreadableError(f"{path}: no header with a date and an amount column")
    return header, rows


def _tabular(head, delimiter):
    counts = Counter(line.count(delimiter) for line in head.splitlines() if line.strip())
    return max((number * times for number, times in counts.items()), default=0)


def _header(cells):
    named = {cell.strip().lower(): index for index, cell in reversed(list(enumerate(cells)))}
    found = {}
    for ours, theirs in COLUMNS.items():
        for name in theirs:
            if name in named:
                found[ours] = named[name]
                break
    return found if "date" in found and "amount" in found else None


def read_rows(path):
    """The expenses of one file, and what was left out."""
    header, table = read_table(path)
    day_first = is_day_first([_cell(cells, header, "date") for _, cells in table])
    rows, left_out = [], []
    for line, cells in table:
        try:
            rows.append(_row(path.name, line, cells, header, day_first))
        except UnreadableError as error:
            left_out.append(LeftOut(path.name, line, str(error)))
    return rows, left_out


def _cell(cells, header, name):
    index = header.get(name)
    return cells[index].strip() if index is not None and index < len(cells) else ""


def _row(file, line, cells, header, day_first):
    when, description = _cell(cells, header, "date"), _cell(cells, header, "description")
    if re.match(r"(sub|grand )?total\b", (when or description).lower()):
        raise UnreadableError("a total line, not an expense")
    if not when:
        raise UnreadableError("no date")
    amount, symbol = parse_amount(_cell(cells, header, "amount"))
    kind = _cell(cells, header, "type").lower()
    # Where the export says what a row is, its description does not overrule it.
    if kind in REFUND_TYPES or (not kind and re.match(r"(refund|reversal)\b", description.lower())):
        amount = -abs(amount)
    return Row(
        file=file,
        line=line,
        date=parse_date(when, day_first),
        amount=amount,
        currency=_cell(cells, header, "currency").upper() or symbol or "",
        category=" ".join(_cell(cells, header, "category").lower().split()) or "uncategorised",
        description=description,
    )


def without_duplicates(rows):
    """Later rows that equal an earlier one in every respect are left out."""
    seen, kept, left_out = {}, [], []
    for row in rows:
        if first := seen.get(row.identity):
            left_out.append(LeftOut(row.file, row.line, f"duplicate of {first.file} line {first.line}"))
        else:
            seen[row.identity] = row
            kept.append(row)
    return kept, left_out


def read_rates(path, pairs):
    """Currency → how much of the base currency one unit is worth."""
    rates = {}
    if path:
        for cells in csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8-sig"), newline="")):
            if len(cells) >= 2 and re.fullmatch(r"[A-Za-z]{3}", cells[0].strip()):
                rates[cells[0].strip().upper()] = parse_rate(cells[1])
    for pair in pairs:
        code, _, value = pair.partition("=")
        rates[code.strip().upper()] = parse_rate(value)
    return rates


# ---- adding up


def summarise(rows, left_out, duplicates, base, rates):
    """The content of summary.json."""
    used = {row.currency for row in rows}
    worth = {currency: Decimal(1) if currency == base else rates.get(currency) for currency in used}
    missing = sorted(currency for currency, rate in worth.items() if rate is None)

    def add(key):
        sums = {}
        for row in rows:
            sums[key(row)] = sums.get(key(row), Decimal(0)) + row.amount * (worth[row.currency] or 0)
        return {name: _money(value) for name, value in sorted(sums.items())}

    by_currency = {}
    for row in rows:
        by_currency[row.currency] = by_currency.get(row.currency, Decimal(0)) + row.amount
    refunds = [row for row in rows if row.amount < 0]
    return {
        "schema": "expense-report/1",
        "currency": base,
        "total": None if missing else _money(sum((r.amount * worth[r.currency] for r in rows), Decimal(0))),
        "totals_by_currency": {name: _money(value) for name, value in sorted(by_currency.items())},
        "by_category": None if missing else add(lambda row: row.category),
        "by_month": None if missing else add(lambda row: row.date.strftime("%Y-%m")),
        "refunds": None if missing else _money(sum((r.amount * worth[r.currency] for r in refunds), Decimal(0))),
        "period": {"from": min(r.date for r in rows).isoformat(), "to": max(r.date for r in rows).isoformat()},
        "rows": {
            "counted": len(rows),
            "refunds": len(refunds),
            "duplicates": len(duplicates),
            "unreadable": len(left_out),
        },
        "left_out": [
            {"file": item.file, "line": item.line, "reason": item.reason}
            for item in sorted([*left_out, *duplicates], key=lambda item: (item.file, item.line))
        ],
        "missing_rates": missing,
    }


def _money(value):
    return float(value.quantize(CENT, rounding=ROUND_HALF_UP))


def base_currency(rows, wanted):
    """The one asked for, else that of most rows."""
    if wanted:
        return wanted.upper()
    counts = Counter(row.currency for row in rows if row.currency)
    return min(counts, key=lambda code: (-counts[code], code)) if counts else NO_CURRENCY


# ---- writing


def render(summary):
    """report.md."""
    base, total = summary["currency"], summary["total"]
    period = summary["period"]
    lines = ["# Expense report", "", f"Period: {period['from']} to {period['to']}", ""]
    if total is None:
        lines += [f"**Total: not known**, no exchange rate for {', '.join(summary['missing_rates'])}", ""]
    else:
        lines += [f"**Total: {total:,.2f} {base}**", ""]
    if summary["refunds"]:
        lines += [f"Refunds included: {summary['refunds']:,.2f} {base}", ""]
    for title, key, unit in (
        ("By category", "by_category", base),
        ("By month", "by_month", base),
        ("By currency", "totals_by_currency", "own currency"),
    ):
        if summary[key]:
            lines += [f"## {title}", "", f"| | {unit} |", "|---|---:|"]
            lines += [f"| {_escape(name)} | {value:,.2f} |" for name, value in summary[key].items()] + [""]
    if summary["left_out"]:
        lines += ["## Left out", ""]
        lines += [f"- {item['file']} line {item['line']}: {item['reason']}" for item in summary["left_out"]] + [""]
    return "\n".join(lines)


def _escape(text):
    return text.replace("|", "\\|")


def write_clean(path, rows):
    """One tidy row per expense that counts."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["date", "category", "description", "amount", "currency"])
        for row in sorted(rows, key=lambda row: (row.date, row.file, row.line)):
            writer.writerow([row.date.isoformat(), row.category, row.description, f"{row.amount:.2f}", row.currency])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--base", help="currency of the totals; default: that of most rows")
    parser.add_argument("--rates", help="CSV with currency,rate: what one unit is worth in the base currency")
    parser.add_argument("--rate", action="append", default=[], metavar="USD=0.92")
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--clean", help="also write the rows that count to this CSV, below --out")
    parser.add_argument("--keep-duplicates", action="store_true")
    options = parser.parse_args(argv)

    rows, left_out, duplicates = [], [], []
    try:
        for path in options.files:
            found, unreadable = read_rows(path)
            rows += found
            left_out += unreadable
        rates = read_rates(options.rates, options.rate)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    if not rows:
        parser.error("no row with a readable date and amount")
    base = base_currency(rows, options.base)
    rows = [row if row.currency else Row(**{**vars(row), "currency": base}) for row in rows]
    if not options.keep_duplicates:
        rows, duplicates = without_duplicates(rows)
    summary = summarise(rows, left_out, duplicates, base, rates)

    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    (options.out / "summary.json").write_text(text, encoding="utf-8")
    (options.out / "report.md").write_text(render(summary), encoding="utf-8")
    if options.clean:
        write_clean(options.out / options.clean, rows)
    counted = summary["rows"]
    print(
        f"{counted['counted']} rows counted, {counted['duplicates']} duplicates and {counted['unreadable']} unreadable "
        f"left out. Total: {summary['total']} {base}"
    )
    if summary["missing_rates"]:
        print(
            "No exchange rate for " + ", ".join(summary["missing_rates"]) + ": give --rates or --rate", file=sys.stderr
        )
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
