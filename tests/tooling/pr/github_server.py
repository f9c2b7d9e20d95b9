"""A GitHub that runs here: it answers as the OpenAPI description's own examples do, and remembers what it was asked."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.tooling.pr.octokit import ANSWERS

COMMENTS = "/repos/{owner}/{repo}/issues/{issue_number}/comments"


class Asked(NamedTuple):
    """A request that was served: the operation as the description names it, what came in, and what was answered."""

    operation: str
    body: Any
    answer: Any


class GitHub:
    """The state of the server. `answers` are bodies by operation; `refuse` gives statuses for some of them."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))
        self.answers[f"GET {COMMENTS}"] = []
        self.refuse: dict[str, int] = {}
        self.asked: list[Asked] = []
        self.closes: list[int] = []
        self.url = ""

    @property
    def comments(self) -> list[dict[str, Any]]:
        """The comments there are."""
        found: list[dict[str, Any]] = self.answers[f"GET {COMMENTS}"]
        return found

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Status and body for a request; what it changes is remembered."""
        if path == "/graphql":
            nodes = [{"number": number} for number in self.closes]
            return 200, {"data": {"repository": {"pullRequest": {"closingIssuesReferences": {"nodes": nodes}}}}}
        operation = next((name for name in self.answers if _matches(name, method, path)), "")
        if not operation or operation in self.refuse:
            return self.refuse.get(operation, 404), {"message": "Resource not accessible by integration"}
        answer = self.answers[operation]
        if operation == f"POST {COMMENTS}":
            author = {**answer["user"], "login": "github-actions[bot]", "type": "Bot"}
            answer = {**answer, "id": len(self.comments) + 1, "body": body["body"], "user": author}
            answer["url"] = f"{self.url}/repos/octo/lib/issues/comments/{answer['id']}"
            self.comments.append(answer)
        elif method == "PATCH":
            (answer,) = (each for each in self.comments if each["url"].endswith(path))
            answer["body"] = body["body"]
        self.asked.append(Asked(operation, body, answer))
        return (201 if method == "POST" else 200), answer


@contextmanager
def running() -> Iterator[GitHub]:
    """A server of its own, on a port of its own, until the end of the block."""
    state = GitHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has there
            """Keep the terminal clean."""

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, answer = state.answer(self.command, self.path.partition("?")[0], body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield state
        server.shutdown()
        thread.join()


def _matches(operation: str, method: str, path: str) -> bool:
    own, _, pattern = operation.partition(" ")
    # A commit that is asked for alone is not in the answers: the lazy client never needs it.
    return own == method and re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(pattern)), path) is not None
