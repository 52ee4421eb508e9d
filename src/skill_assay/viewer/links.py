"""Where things are: addresses on the server, or places within the one static file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

__all__ = ["Links", "ServerLinks", "StaticLinks"]


class Links(Protocol):
    """Makes the addresses that pages link to."""

    @property
    def static(self) -> bool:
        """Whether there is no server."""
        ...

    def page(self, iteration: str, page: str) -> str:
        """`overview`, `evals`, `expectations`, `compare`, `improve`, `triggers`, `suite`."""
        ...

    def trial(self, iteration: str, run_id: str) -> str:
        """The page of a trial."""
        ...

    def file(self, iteration: str, run_id: str, name: str) -> str | None:
        """A file of a run folder as it is; `None` where it can't be had."""
        ...

    def plot(self, iteration: str, name: str) -> str | None:
        """A plot, as SVG."""
        ...


@dataclass(frozen=True, slots=True)
class ServerLinks:
    """Addresses below the server's root."""

    static: bool = False

    def page(self, iteration: str, page: str) -> str:
        return f"/i/{quote(iteration, safe='')}/{page}"

    def trial(self, iteration: str, run_id: str) -> str:
        return f"/i/{quote(iteration, safe='')}/trial/{quote(run_id, safe='')}"

    def file(self, iteration: str, run_id: str, name: str) -> str | None:
        return f"/i/{quote(iteration, safe='')}/file/{quote(run_id, safe='')}/{quote(name)}"

    def plot(self, iteration: str, name: str) -> str | None:
        return f"/i/{quote(iteration, safe='')}/plot/{name}.svg"


@dataclass(frozen=True, slots=True)
class StaticLinks:
    """Places within one file, after `#/`; plots are in it, files as they are stay where they were."""

    plots: tuple[tuple[str, str], ...] = ()
    """Name → data URL."""
    trials: frozenset[str] | None = None
    """The run ids that have a page; `None`: all."""
    static: bool = True

    def page(self, iteration: str, page: str) -> str:
        return f"#/{page}"

    def trial(self, iteration: str, run_id: str) -> str:
        known = self.trials is None or run_id in self.trials
        return f"#/trial/{quote(run_id, safe='')}" if known else "#/overview"

    def file(self, iteration: str, run_id: str, name: str) -> str | None:
        return None

    def plot(self, iteration: str, name: str) -> str | None:
        return dict(self.plots).get(name)
