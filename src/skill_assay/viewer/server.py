"""The local server: pages on demand, files as they are, feedback written, a run followed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

import anyio
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from skill_assay.benchmark.trend import trend_of, trend_rows
from skill_assay.errors import AssayError, NotFoundError
from skill_assay.model.benchmark import Run
from skill_assay.reports.forest import forest_rows, forest_svg
from skill_assay.reports.trend import trend_svg
from skill_assay.viewer.compare import preference_of
from skill_assay.viewer.feedback import FeedbackStore
from skill_assay.viewer.files import Refused, inside
from skill_assay.viewer.improve import decide
from skill_assay.viewer.links import ServerLinks
from skill_assay.viewer.matrix import Filter
from skill_assay.viewer.outputs import MEDIA_TYPES
from skill_assay.viewer.overview import live_state
from skill_assay.viewer.pages import Pages
from skill_assay.viewer.render import ASSETS, asset, sendable
from skill_assay.viewer.security import FRAME_CSP, Door, Guard
from skill_assay.viewer.site import Opened, Site, run_mark
from skill_assay.viewer.states import STATES
from skill_assay.viewer.suite import suite_plot
from skill_assay.viewer.triggers import save_queries

__all__ = ["make_app"]

_LARGEST_POST = 1_000_000
_LIVE_SECONDS = 1.0
_LOOK_AGAIN = 10
_SVG_CSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
_PLAIN = {
    "md",
    "txt",
    "json",
    "jsonl",
    "csv",
    "tsv",
    "yaml",
    "yml",
    "toml",
    "xml",
    "log",
    "py",
    "js",
    "ts",
    "css",
    "sh",
}
Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(site: Site, door: Door, ending: Callable[[], bool] = lambda: False) -> Guard:
    """The ASGI application, behind its door.

    Args:
        site: what is shown.
        door: who gets in.
        ending: whether the server is about to end, so that what follows a run must let go.
    """
    return Guard(_Viewer(site, ending).app(), door)


class _Viewer:
    def __init__(self, site: Site, ending: Callable[[], bool]) -> None:
        self.site, self.ending = site, ending
        self.pages = Pages(site, ServerLinks())
        self.feedback = FeedbackStore()

    def app(self) -> Starlette:
        """Routes; every page of an iteration lies below `/i/<its folder's name>`."""
        below = "/i/{iteration}"
        routes = [
            Route("/", self.home),
            Route("/assets/{name}", self.asset),
            Route(f"{below}/overview", self._html(self.pages.overview)),
            Route(f"{below}/evals", self._html(self._evals, with_request=True)),
            Route(f"{below}/expectations", self._html(self._expectations, with_request=True)),
            Route(f"{below}/compare", self._html(self._compare, with_request=True)),
            Route(f"{below}/triggers", self._html(self._triggers, with_request=True)),
            Route(f"{below}/improve", self._html(self.pages.improve)),
            Route(f"{below}/suite", self._html(self.pages.suite)),
            Route(f"{below}/trial/{{run}}", self._html(self._trial, with_request=True)),
            Route(f"{below}/plot/{{plot}}.svg", self.plot),
            Route(f"{below}/file/{{run}}/{{name:path}}", self.file),
            Route(f"{below}/frame/{{run}}/{{name:path}}", self.frame),
            Route(f"{below}/feedback", self._post(self._feedback), methods=["POST"]),
            Route(f"{below}/candidate", self._post(self._candidate), methods=["POST"]),
            Route(f"{below}/queries", self._post(self._queries), methods=["POST"]),
            Route(f"{below}/live", self.live),
        ]
        return Starlette(routes=routes, exception_handlers={404: self._missing, Exception: self._broken})

    async def home(self, request: Request) -> Response:
        """The iteration that was asked for."""
        return RedirectResponse(self.pages.links.page(self.site.shown.path.name, "overview"), 303)

    async def asset(self, request: Request) -> Response:
        """The stylesheet and the script."""
        name = request.path_params["name"]
        if name not in ASSETS:
            return Response("no such file", 404)
        return Response(asset(name), media_type=ASSETS[name])

    def _html(self, make: Callable[..., str], *, with_request: bool = False) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            name = request.path_params["iteration"]
            try:
                opened = await run_sync(self.site.open, name)
                page = await run_sync(make, opened, *([request] if with_request else []))
            except AssayError as error:
                return HTMLResponse(self._problem(name, error), 404 if isinstance(error, NotFoundError) else 500)
            return HTMLResponse(page)

        return endpoint

    def _problem(self, name: str, error: AssayError) -> str:
        iteration = self.site.named(name)
        live = live_state(iteration) if iteration else None
        if live is not None and live.going:
            return self.pages.problem(name, "Nothing is measured yet", "The first trials are running.")
        return self.pages.problem(name, "Nothing to show", str(error))

    def _evals(self, opened: Opened, request: Request) -> str:
        asked = request.query_params
        state, number = asked.get("state", ""), _number(asked.get("page", "")) or 1
        wanted = Filter(state if state in STATES else "", asked.get("tag", ""), asked.get("text", "")[:200], number)
        return self.pages.evals(opened, wanted)

    def _expectations(self, opened: Opened, request: Request) -> str:
        return self.pages.expectations(opened, request.query_params.get("text", "")[:200])

    def _compare(self, opened: Opened, request: Request) -> str:
        return self.pages.compare(opened, _number(request.query_params.get("pair", "")))

    def _triggers(self, opened: Opened, request: Request) -> str:
        return self.pages.triggers(opened, request.query_params.get("at"))

    def _trial(self, opened: Opened, request: Request) -> str:
        return self.pages.trial(opened, _run(opened, request))

    async def plot(self, request: Request) -> Response:
        """The plot of effects by eval, that of the iterations, or one of a suite's."""
        draw = {"forest": self._forest, "trend": self._trend, "suite": self._suite, "rivals": self._rivals}.get(
            request.path_params["plot"]
        )
        try:
            opened = await run_sync(self.site.open, request.path_params["iteration"])
            svg = await run_sync(draw, opened) if draw else ""
        except AssayError as error:
            return Response(sendable(str(error)), 404)
        if not svg:
            return Response("no such plot", 404)
        return Response(sendable(svg), media_type="image/svg+xml", headers={"content-security-policy": _SVG_CSP})

    def _trend(self, opened: Opened) -> str:
        points = trend_of(trend_rows(self.site.iterations, opened.name, opened.derived))
        return trend_svg(points) if points else ""

    def _forest(self, opened: Opened) -> str:
        rows = forest_rows(opened.benchmark, opened.derived.inference)
        return forest_svg(rows) if rows else ""

    def _suite(self, opened: Opened) -> str:
        return suite_plot(self.site, opened, "suite")

    def _rivals(self, opened: Opened) -> str:
        return suite_plot(self.site, opened, "rivals")

    async def file(self, request: Request) -> Response:
        """A file of a run folder: shown where a browser can do so safely, else a download."""
        return await run_sync(self._file, request, False)

    async def frame(self, request: Request) -> Response:
        """An HTML file an agent made, for a frame: without scripts, without network, with an origin of its own.

        In a frame of ours the page's policy holds it where it is; as a page of its own it could lead away.
        """
        if request.headers.get("sec-fetch-dest", "iframe") != "iframe":
            return Response("This is shown in a frame only.", 403, media_type="text/plain")
        return await run_sync(self._file, request, True)

    def _file(self, request: Request, framed: bool) -> Response:
        name = request.path_params["name"]
        try:
            opened = self.site.open(request.path_params["iteration"])
            path = inside(opened.folder(_run(opened, request)), name)
        except (AssayError, Refused) as error:
            return Response(sendable(str(error)), 404, media_type="text/plain")
        suffix = PurePosixPath(name).suffix.lstrip(".").lower()
        headers = {"content-security-policy": FRAME_CSP}
        if framed:
            return FileResponse(path, media_type="text/html", headers=headers)
        media = "text/plain; charset=utf-8" if suffix in _PLAIN else MEDIA_TYPES.get(suffix)
        if media == "application/pdf":
            headers = {}  # a browser's own reader refuses to work inside a sandbox
        kind = "inline" if media else "attachment"
        return FileResponse(
            path,
            media_type=media or "application/octet-stream",
            headers=headers,
            filename=path.name,
            content_disposition_type=kind,
        )

    def _post(self, act: Callable[[Opened, dict[str, Any]], dict[str, Any]]) -> Endpoint:
        """What is answered is only said once it is on the disk."""

        async def endpoint(request: Request) -> Response:
            try:
                asked = await _json(request)
                opened = await run_sync(self.site.open, request.path_params["iteration"])
                done = await run_sync(act, opened, asked)
            except (AssayError, Refused, ValueError, OSError, RecursionError) as error:
                return JSONResponse({"error": sendable(str(error))}, 409 if isinstance(error, AssayError) else 400)
            return JSONResponse(done)

        return endpoint

    def _feedback(self, opened: Opened, asked: dict[str, Any]) -> dict[str, Any]:
        if isinstance(asked.get("preference"), dict):
            asked["preference"] = preference_of(opened, asked["preference"])
        return {"saved": self.feedback.change(opened.iteration, asked, opened.runs)}

    def _candidate(self, opened: Opened, asked: dict[str, Any]) -> dict[str, Any]:
        return {"applied": decide(opened, self.site.skill, asked)}

    def _queries(self, opened: Opened, asked: dict[str, Any]) -> dict[str, Any]:
        return {"saved": save_queries(self.site.skill, asked)}

    async def live(self, request: Request) -> Response:
        """Where a run stands, each time that changed, until it ends."""
        iteration = self.site.named(request.path_params["iteration"])
        if iteration is None:
            return Response("no such iteration", 404)

        async def events() -> AsyncIterator[str]:
            seen: object = None
            mark: object = None
            rounds = 0
            while not self.ending() and not await request.is_disconnected():
                last, mark = mark, run_mark(iteration)
                # A killed run writes nothing any more, so it is looked for without a sign, but not every time.
                if mark != last or rounds % _LOOK_AGAIN == 0:
                    state = await run_sync(live_state, iteration)
                    if state is None:
                        return
                    if (state.lines, state.going) != seen:
                        seen = (state.lines, state.going)
                        yield f"data: {json.dumps(asdict(state))}\n\n"
                    if not state.going:
                        return
                rounds += 1
                await anyio.sleep(_LIVE_SECONDS)

        return StreamingResponse(events(), media_type="text/event-stream")

    async def _missing(self, request: Request, error: Exception) -> Response:
        return HTMLResponse(self.pages.problem(self.site.shown.path.name, "No such page", ""), 404)

    async def _broken(self, request: Request, error: Exception) -> Response:
        return Response(f"The viewer failed on this page: {type(error).__name__}", 500, media_type="text/plain")


def _number(text: str) -> int | None:
    """A number from 1 in an address; `None` for anything else."""
    return (int(text) or None) if text.isascii() and text.isdecimal() and len(text) < 7 else None


def _run(opened: Opened, request: Request) -> Run:
    run = opened.runs.get(request.path_params["run"])
    if run is None:
        raise NotFoundError("no such trial", file=str(opened.iteration.path), found=request.path_params["run"])
    return run


async def _json(request: Request) -> dict[str, Any]:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > _LARGEST_POST:
            raise ValueError("too large")
    value = json.loads(bytes(data))
    if not isinstance(value, dict):
        raise ValueError("expected an object")
    return value
