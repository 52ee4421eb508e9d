"""The tables of `assay power` as a person reads them, and the plot."""

from __future__ import annotations

from skill_assay.model.power import PowerRow, PowerTable
from skill_assay.reports.charts import power_svg
from skill_assay.reports.power import power_text, simulation_text
from skill_assay.stats.results import Calibration, EarlyCalibration

TABLE = PowerTable(
    "evals",
    "measured on 8 evals, 3 trials an arm",
    True,
    0.065,
    (
        PowerRow(8, 3, 48, 3.12, {0.05: 0.051, 0.2: 0.37}, 0.361),
        PowerRow(30, 3, 180, 11.7, {0.05: 0.16, 0.2: 0.968}, None),
    ),
    0.13,
    0.29,
)


def test_the_table_of_designs() -> None:
    assert power_text(TABLE) == (
        "Chance of a verdict on tasks like these, by true effect in points.\n"
        "Spread measured on 8 evals, 3 trials an arm.\n"
        "Effects differ by 13 points from task to task, trials by 29 (sd).\n"
        "\n"
        "  evals  trials  launches   price    +5   +20  80 % power from\n"
        "      8       3        48   $3.12   5 %  37 %              +36\n"
        "     30       3       180  $11.70  16 %  97 %          nothing\n"
        "\n"
        "Price at $0.065 a launch.\n"
    )


def test_the_table_of_simulations() -> None:
    fixed = Calibration(8, 3, 0.16, 1000, 0.237, 0.0, 0.0, 0.763, 0.95, 0.947)
    early = EarlyCalibration(20, 5, 0.2, 1000, 0.97, 0.54)
    lines = simulation_text([fixed], [early]).splitlines()
    assert lines[3].split()[-2:] == ["95", "%"] and "23.7 %" in lines[3] and "94.7 %" in lines[3]
    assert lines[-3].split() == ["20", "5", "+20", "97.0", "%", "54", "%"]
    assert "1,000 benchmarks" in lines[-1]


def test_the_plot_has_a_panel_a_number_of_trials_and_names_every_effect() -> None:
    svg = power_svg(TABLE)
    assert svg.startswith("<svg")
    for text in ("3 trials", "+5", "+20", "80 %", "evals", "power"):
        assert text in svg
