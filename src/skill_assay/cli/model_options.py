"""The options of commands that ask a model about what is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["model_options"]

F = TypeVar("F", bound=Callable[..., Any])


def model_options(command: F) -> F:
    """`--judge`, `--budget`, `--workers`, `--judge-again`, `--yes`."""
    for option in (
        click.option("-y", "--yes", is_flag=True, help="Do not ask before a costly step."),
        click.option("--judge-again", is_flag=True, help="Ask also what was answered before."),
        click.option("--workers", type=click.IntRange(1), default=4, show_default=True, help="Questions at once."),
        click.option("--budget", metavar="CAPS", help="Caps, as 5usd,2Mtok."),
        click.option(
            "--judge", default="auto", show_default=True, metavar="NAME", help="The model to ask, as for assay run."
        ),
    ):
        command = option(command)
    return command
