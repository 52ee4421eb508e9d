"""Write docs/images/run.svg: what a terminal shows at the end of a real demo run.

    python tools/make_images.py

The run is `assay demo`, so the agent is simulated and the picture says so. The SVG has no script and
fetches nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = Path(__file__).parent.parent / "docs" / "images" / "run.svg"
COLUMNS = 112
COMMAND = "assay demo"
FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def demo_output() -> str:
    """What `assay demo` prints to a terminal of this width, colours included."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "PYTHONUTF8": "1"}
    environment.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as scratch:
        argv = [sys.executable, "-m", "skill_assay", "demo", "--no-progress"]
        done = subprocess.run(argv, cwd=scratch, env=environment, capture_output=True, check=True, encoding="utf-8")
        # The folder of this one run is nothing to show.
        return done.stdout.replace(f"{Path(scratch).resolve()}{os.sep}", "")


def svg(output: str) -> str:
    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(f"$ {COMMAND}\n{output.rstrip()}"))
        drawn = console.export_svg(title=COMMAND, theme=MONOKAI, code_format=FORMAT, unique_id="run")
    return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip()) + "\n"


def main() -> None:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(svg(demo_output()), encoding="utf-8", newline="\n")
    print(TARGET.relative_to(TARGET.parents[2]))


if __name__ == "__main__":
    main()
