"""The guards of the test suite itself."""

from __future__ import annotations

import socket

import pytest


def test_no_test_can_reach_the_network() -> None:
    with socket.socket() as outside, pytest.raises(RuntimeError, match="loopback only"):
        outside.connect(("192.0.2.1", 80))
    with pytest.raises(RuntimeError, match="loopback only"):
        socket.getaddrinfo("example.org", 443)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()
