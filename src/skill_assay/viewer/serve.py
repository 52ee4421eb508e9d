"""Starts the server on this machine's own address and opens a browser."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from skill_assay.errors import AssayError, InputError
from skill_assay.viewer.security import Door
from skill_assay.viewer.site import Site

if TYPE_CHECKING:
    from uvicorn import Server

__all__ = ["listen", "make_server", "serve"]

_LOWEST, _PORTS = 20_000, 12_000


def serve(site: Site, *, port: int | None, browser: bool, say: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        site: what is shown.
        port: where to listen; `None` finds a free one.
        browser: whether to open one.
        say: is told the address once the server listens.

    Raises:
        InputError: the port is taken.
    """
    # The numbers are derived while the server and the browser start.
    threading.Thread(target=_begin, args=(site,), daemon=True).start()
    listening = listen(port, str(site.shown.path.parent))
    door = Door(listening.getsockname()[1])
    server = make_server(site, door)
    say(door.url)
    if browser:
        import webbrowser

        webbrowser.open(door.url)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()


def make_server(site: Site, door: Door) -> Server:
    """The server; asked to end, it does so within seconds, also with pages open that follow a run."""
    import uvicorn

    from skill_assay.viewer.server import make_app

    made: list[Server] = []
    config = uvicorn.Config(
        make_app(site, door, lambda: bool(made) and made[0].should_exit),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=4,
    )
    made.append(uvicorn.Server(config))
    return made[0]


def _begin(site: Site) -> None:
    try:
        site.open(site.shown.path.name)
    except AssayError:
        pass  # the page says it


def listen(port: int | None, place: str) -> socket.socket:
    """A socket that listens on loopback.

    A place has a port that it prefers, since what a browser keeps for a page (words not saved yet) it keeps by port.
    Where that one is taken, whoever has it is left alone and any free one serves.

    Raises:
        InputError: a port was named and is taken.
    """
    digest = int.from_bytes(hashlib.sha256(place.encode("utf-8", "replace")).digest()[:4], "big")
    wanted = [port] if port else [_LOWEST + digest % _PORTS, 0]
    for one in wanted:
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", one))
            found.listen(128)
        except OSError:
            found.close()
        else:
            return found
    raise InputError("the port is taken", found=str(port), hint="Leave --port out to use a free one.")
