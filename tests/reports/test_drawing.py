from __future__ import annotations

import pytest
import vl_convert

from skill_assay.reports.forest import ForestRow, forest_png, forest_svg
from skill_assay.reports.trend import TrendPoint, trend_svg


@pytest.mark.slow
def test_the_same_plot_is_drawn_once_and_another_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run writes its plot into two files."""
    drawings: list[str] = []
    draw = vl_convert.vegalite_to_svg

    def counted(chart: str) -> str:
        drawings.append(chart)
        return str(draw(chart))

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", counted)
    rows = [ForestRow("drawn once", 0.125, 0.1, 0.15)]
    assert forest_svg(rows) == forest_svg([*rows]) and forest_png(rows).startswith(b"\x89PNG")
    points = [TrendPoint(1, {"drawn once": 0.5}, None, None, None)]
    assert trend_svg(points) == trend_svg([*points])
    assert len(drawings) == 2
    assert "drawn again" in forest_svg([ForestRow("drawn again", 0.125, 0.1, 0.15)])
