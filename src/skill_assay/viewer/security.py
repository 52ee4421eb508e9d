"""Who may talk to the viewer: the person who started it, from this machine, through pages of its own.

A page of any web site can send requests to a port on this machine, and can make a name of its own lead there. So a
request must name this server as its host, come from no other origin, and bring the token: once in the address that
was opened, then in a cookie.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["CSP", "FRAME_CSP", "Door", "Guard", "static_csp"]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "frame-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FRAME_CSP = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""For what an agent made: no script, no network, an origin of its own."""


def static_csp(script_hash: str) -> str:
    """For the one-file report: its own script by its hash and nothing from anywhere."""
    return (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'unsafe-inline'; img-src data:; "
        "media-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-src 'none'"
    )


@dataclass(frozen=True, slots=True)
class Door:
    """What opens the viewer."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """Its name: cookies know no ports, so each viewer has its own."""
        return f"assay-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which a browser may call it."""
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def fits(self, token: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(token.encode(), self.token.encode())


class Guard:
    """ASGI middleware that lets only such requests through, and adds the headers that hold pages to their own."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused:
            await _answer(send, *refused)
        elif (token := _token_of(scope)) is not None:
            await self._enter(send, token)
        elif not self.door.fits(_cookie_of(headers, self.door.cookie)):
            text = "This viewer opens with the address that `assay view` printed; open that one."
            await _answer(send, 403, text)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "") not in self.door.hosts:
            return 421, "This is not the host that was asked for."
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.door.hosts:
            return 403, "Requests from other sites are refused."
        # A link to the first page may stand in a chat or a terminal's window; it brings the token or gets nothing.
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"] != "/":
            return 403, "Requests from other sites are refused."
        if scope["method"] not in ("GET", "HEAD"):
            if scope["method"] != "POST":
                return 405, "Only GET and POST."
            if origin is None:
                return 403, "A post must say its origin."
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return 415, "Posts must be application/json."
        return None

    async def _enter(self, send: Send, token: str) -> None:
        if not self.door.fits(token):
            await _answer(send, 403, "The token is not that of this viewer; open the address that it printed.")
            return
        cookie = f"{self.door.cookie}={self.door.token}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])


def _token_of(scope: Scope) -> str | None:
    if scope["path"] != "/" or scope["method"] != "GET":
        return None
    found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    return found[0] if found else None


def _cookie_of(headers: dict[str, str], name: str) -> str:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""


_ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


def _with_headers(send: Send) -> Send:
    async def added(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            mine = [*_ALWAYS, (b"content-security-policy", CSP.encode())]
            message["headers"] = [*message["headers"], *(one for one in mine if one[0] not in present)]
        await send(message)

    return added


async def _answer(send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    content = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-security-policy", b"default-src 'none'")]
    start = {"type": "http.response.start", "status": status, "headers": [*content, *_ALWAYS, *(headers or [])]}
    await send(start)
    await send({"type": "http.response.body", "body": text.encode()})
