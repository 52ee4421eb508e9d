"""Write docs/images: what a real demo run shows in the terminal (run.svg) and on its page (report.png).

    python tools/make_images.py

The run is `assay demo`, so the agent is simulated and the pictures say so. The SVG has no script and fetches nothing;
the page is the run's own report.html, opened from the disk in the Chromium of this machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parent.parent / "docs" / "images"
COLUMNS = 112
VIEW = {"width": 900, "height": 900}
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


def demo(scratch: Path) -> str:
    """What `assay demo` prints to a terminal of this width, colours included; its results lie in `scratch`."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "PYTHONUTF8": "1"}
    environment.pop("NO_COLOR", None)
    argv = [sys.executable, "-m", "skill_assay", "demo", "--no-progress"]
    done = subprocess.run(argv, cwd=scratch, env=environment, capture_output=True, check=True, encoding="utf-8")
    # The folder of this one run is nothing to show.
    return done.stdout.replace(f"{scratch.resolve()}{os.sep}", "")


def photograph(page_file: Path, target: Path) -> None:
    """The top of a report, from its verdict to the figures of the arms, in light colours."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        context = browser.new_context(viewport=VIEW, device_scale_factor=1.5, color_scheme="light", offline=True)
        page = context.new_page()
        page.goto(page_file.as_uri())
        below = page.locator("section[aria-labelledby=arms]").first.bounding_box()
        if below is None:
            raise SystemExit("the report has no figures of arms to show")
        height = below["y"] + below["height"] + 24
        page.screenshot(path=target, clip={"x": 0, "y": 0, "width": VIEW["width"], "height": height}, full_page=True)
        browser.close()


def chromium() -> str:
    """The browser of this machine."""
    found = os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        raise SystemExit("there is no chromium to show the page with: install it, or point ASSAY_CHROMIUM to one")
    return found


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
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (IMAGES / "run.svg").write_text(svg(demo(scratch)), encoding="utf-8", newline="\n")
        [report] = scratch.glob(".demo/*-workspace/iteration-1/report.html")
        photograph(report, IMAGES / "report.png")
    for name in ("run.svg", "report.png"):
        print(f"docs/images/{name}")


if __name__ == "__main__":
    main()
