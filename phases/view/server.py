# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves the page on loopback and computes the exact distance of any two intervals.

    /                        the page
    /pair?left=I&right=J     {"left": I, "right": J, "distance": D}
    /cells?size=S&row=A&rows=M&column=B&columns=N
                             distances between the middle intervals of M cells, beginning with
                             cell A, and of N cells, beginning with cell B. Each cell has S
                             intervals. Row by row, 16 bits each, little-endian, in the page's
                             units.

Only users of this machine can reach the server. A page from another site cannot read from it: the
server answers only requests whose Host header names it, so an attacker's name that resolves to
loopback is refused.
"""

import json
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from scipy import sparse

from kadence.base.errors import UsageError
from kadence.phases.find import vectors
from kadence.phases.view.content import UNITS
from kadence.phases.view.subject import Subject

ADDRESS = "127.0.0.1"
MOST_CELLS = 512  # along an axis; the page paints fewer
DIGITS = 12  # the most digits that a number in a query may have

Query = dict[str, list[str]]


class Server(ThreadingHTTPServer):
    """Serves the page of one run while `serve_forever` runs."""

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
        """Ignore a browser that closed its connection; the library reports any other error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    def pair(self, left: int, right: int) -> dict[str, Any]:
        """Returns the exact distance of two intervals."""
        normalised = self.subject.normalised
        distance = vectors.pairwise(normalised[[left]], normalised[[right]])[0, 0]
        return {"left": left, "right": right, "distance": float(distance)}

    def cells(self, size: int, row: int, rows: int, column: int, columns: int) -> bytes:
        """Returns the exact distances of a part of the matrix."""
        down, across = (self._middles(size, *part) for part in ((row, rows), (column, columns)))
        distances = vectors.pairwise(down, across)
        return np.rint(distances * UNITS).astype("<u2").tobytes()

    def _middles(self, size: int, first: int, count: int) -> sparse.csr_matrix:
        middles = np.arange(first, first + count) * size + size // 2
        return self.subject.normalised[np.minimum(middles, self.subject.intervals - 1)]


def _number(query: Query, name: str) -> int | None:
    """Returns the number that the query gives under this name, or None without a valid number."""
    text = query.get(name, [""])[0]
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else None


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
        query = parse_qs(request.query)
        if request.path == "/":
            self._answer("text/html; charset=utf-8", self.server.page)
        elif request.path == "/pair":
            self._answer_pair(query)
        elif request.path == "/cells":
            self._answer_cells(query)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "this server has only the page, /pair and /cells")

    def _answer_pair(self, query: Query) -> None:
        intervals = self.server.subject.intervals
        left, right = (_number(query, name) for name in ("left", "right"))
        if left is None or right is None or max(left, right) >= intervals:
            wanted = f"left and right must be intervals from 0 to {intervals - 1}"
            self._refuse(HTTPStatus.BAD_REQUEST, wanted)
            return
        text = json.dumps(self.server.pair(left, right))
        self._answer("application/json", text.encode("ascii"))

    def _answer_cells(self, query: Query) -> None:
        names = ("size", "row", "rows", "column", "columns")
        size, row, rows, column, columns = (_number(query, name) or 0 for name in names)
        farthest = (max(row + rows, column + columns) - 1) * size
        within = farthest < self.server.subject.intervals and max(rows, columns) <= MOST_CELLS
        if not (within and min(size, rows, columns) >= 1):
            wanted = f"the cells must be within the run, and at most {MOST_CELLS} along an axis"
            self._refuse(HTTPStatus.BAD_REQUEST, wanted)
            return
        found = self.server.cells(size, row, rows, column, columns)
        self._answer("application/octet-stream", found)

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
        """Log nothing: users who serve a page to themselves need no log."""
