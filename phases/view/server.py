# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves the page on loopback and answers the distance of any two intervals.

    /                        the page
    /pair?left=I&right=J     {"left": I, "right": J, "distance": D}

Nobody but this machine's users can reach it, and a page from elsewhere cannot read from it: it
answers only requests that name it as the host, whatever other names a resolver gives it.
"""

import json
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kadence.errors import UsageError
from kadence.phases import vectors
from kadence.phases.view.subject import Subject

ADDRESS = "127.0.0.1"


class Server(ThreadingHTTPServer):
    """The page of one run, as long as `serve_forever` lasts."""

    daemon_threads = True

    def __init__(self, subject: Subject, page: str, port: int = 0) -> None:
        self.subject = subject
        self.page = page.encode("utf-8")
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"cannot listen on port {port} of {ADDRESS} ({error}); name another with --port"
            ) from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone is no error; anything else is told as the library does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    def pair(self, left: int, right: int) -> dict[str, Any]:
        """The exact distance of two intervals."""
        normalised = self.subject.normalised
        distance = vectors.pairwise(normalised[[left]], normalised[[right]])[0, 0]
        return {"left": left, "right": right, "distance": float(distance)}


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "kadence"
    sys_version = ""
    timeout = 30  # seconds that a silent client may hold a thread

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        port = self.server.server_port
        if self.headers.get("Host") not in (f"{ADDRESS}:{port}", f"localhost:{port}"):
            self._refuse(HTTPStatus.FORBIDDEN, "this server answers to its own name only")
            return
        request = urlsplit(self.path)
        if request.path == "/":
            self._answer("text/html; charset=utf-8", self.server.page)
        elif request.path == "/pair":
            self._answer_pair(parse_qs(request.query))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is the page and /pair")

    def _answer_pair(self, query: dict[str, list[str]]) -> None:
        intervals = self.server.subject.intervals
        numbers = [self._interval(query, name, intervals) for name in ("left", "right")]
        left, right = numbers
        if left is None or right is None:
            wanted = f"left and right must be intervals from 0 to {intervals - 1}"
            self._refuse(HTTPStatus.BAD_REQUEST, wanted)
            return
        text = json.dumps(self.server.pair(left, right))
        self._answer("application/json", text.encode("ascii"))

    @staticmethod
    def _interval(query: dict[str, list[str]], name: str, intervals: int) -> int | None:
        (text,) = query.get(name, [""])[:1]
        if not (text.isascii() and text.isdigit() and len(text) < 12):
            return None
        number = int(text)
        return number if number < intervals else None

    def _answer(self, kind: str, body: bytes, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._answer("text/plain; charset=utf-8", f"{reason}\n".encode(), status)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: who serves a page to himself needs no log of it."""
