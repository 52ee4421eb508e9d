"""A model server on loopback that answers from a script: for tests, for the canary, for demonstrations.

It costs nothing, needs no network, and keeps every request it received.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from skill_assay.modelserver import anthropic, gemini, openai_chat, openai_responses
from skill_assay.modelserver.script import Cut, Error, Hang, Received, Script, Turn, Wait
from skill_assay.modelserver.wire import Wire

__all__ = ["WIRES", "ModelServer", "serve"]

WIRES: tuple[Wire, ...] = (anthropic, openai_responses, openai_chat, gemini)
"""The protocols spoken, told apart by the path of the request."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[Received] = []
        self.struck: dict[int, tuple[Error | Cut, int]] = {}
        self.lock = threading.Lock()
        self.closing = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    def keep(self, request: Received) -> int:
        with self.lock:
            self.received.append(request)
            return len(self.received)

    def still(self, fault: Error | Cut) -> bool:
        """Whether a fault that is limited in number strikes once more."""
        with self.lock:
            # The fault itself is kept, so that no later object can take over its identity.
            times = self.struck.get(id(fault), (fault, 0))[1] + 1
            self.struck[id(fault)] = (fault, times)
            return fault.count is None or times <= fault.count

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_version, sys_version = "scripted", ""

    @property
    def own(self) -> _Server:
        return cast("_Server", self.server)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.own.keep(Received(path, self._headers(), {}))
        if path == "/v1/models":
            self._json(200, anthropic.models(self.own.script.models))
        else:
            self._json(404, anthropic.failure(Error(404, "not here")))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        text = raw.decode("utf-8", "replace")
        wire = _wire(path)
        request = (wire or anthropic).received(path, self._headers(), _object(text), text)
        number = self.own.keep(request)
        if wire is not None:
            self._answer(wire, self.own.script.turn(request), request, f"scripted{number:06d}")
        elif path.endswith(("/count_tokens", ":countTokens")):
            # A rough count: four characters a token.
            self._json(200, dict.fromkeys(("input_tokens", "totalTokens"), len(text) // 4))
        else:
            self._json(404, anthropic.failure(Error(404, "not here")))

    def _answer(self, wire: Wire, turn: Turn, request: Received, ident: str) -> None:
        if turn.error and self.own.still(turn.error):
            extra = {} if turn.error.retry_after is None else {"retry-after": f"{turn.error.retry_after:g}"}
            self._json(turn.error.status, wire.failure(turn.error), extra)
            return
        cut = turn.cut.after if turn.cut and self.own.still(turn.cut) else None
        if wire.wants_stream(request) and cut != 0:
            self._stream(wire.stream(turn, request, ident), cut)
        elif cut is not None:
            self._drop()
        else:
            self._pause(turn)
            self._json(200, wire.whole(turn, request, ident))

    def _stream(self, events: Iterator[bytes | Wait | Hang], cut: int | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        sent = 0
        for event in events:
            if isinstance(event, Wait | Hang):
                self._wait(event)
                continue
            self._chunk(event)
            sent += 1
            if sent == cut:
                self._drop()
                return
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _pause(self, turn: Turn) -> None:
        for item in turn.items:
            if isinstance(item, Wait | Hang):
                self._wait(item)

    def _wait(self, item: Wait | Hang) -> None:
        self.own.closing.wait(item.seconds if isinstance(item, Wait) else None)

    def _drop(self) -> None:
        """Close in the middle, so that the client sees its connection lost."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _json(self, status: int, body: Mapping[str, Any], extra: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status, "Scripted" if status == 529 else None)
        for name, value in {"content-type": "application/json", **(extra or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}


def _wire(path: str) -> Wire | None:
    return next((wire for wire in WIRES if wire.speaks(path)), None)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class ModelServer:
    """A running scripted model server."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        """Its address, without a path."""

    @property
    def requests(self) -> Sequence[Received]:
        """Everything received so far, in order, headers included."""
        with self._server.lock:
            return tuple(self._server.received)

    @property
    def messages(self) -> Sequence[Received]:
        """Only the requests that ask the model something."""
        return tuple(request for request in self.requests if _wire(request.path))


@contextmanager
def serve(script: Script) -> Iterator[ModelServer]:
    """Run a server on a free port of 127.0.0.1 until the block ends; hanging answers end with it."""
    server = _Server(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="scripted model", daemon=True)
    thread.start()
    try:
        yield ModelServer(server)
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
