"""Git servers on this machine: smart HTTP with a password, one that stalls or hangs up half way, and `git daemon`."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SECRET = "Basic " + base64.b64encode(b"ada:secret").decode("ascii")


class GitServer(ThreadingHTTPServer):
    """`git http-backend` over a folder of bare repositories; `behaviour` is well, password, stall or cut."""

    daemon_threads = True

    def __init__(self, folder: Path, behaviour: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.behaviour = behaviour

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that has given up is what is tested."""

    @property
    def url(self) -> str:
        """The address without a user."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(self._chunks())
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""

    def _git_server(self) -> GitServer:
        assert isinstance(self.server, GitServer)
        return self.server

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()

    def _answer(self, body: bytes) -> None:
        behaviour = self._git_server().behaviour
        if behaviour == "password" and self.headers.get("Authorization") != SECRET:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if behaviour == "stall":
            time.sleep(30)
        head, _, content = self._backend(body).partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode("ascii").split("\r\n"))
        self.send_response(int(fields.pop("Status", "200 OK").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        cut = behaviour == "cut" and self.command == "POST"
        self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.connection.shutdown(socket.SHUT_RDWR)

    def _backend(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": str(self._git_server().folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "ada",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env={**os.environ, **variables}, capture_output=True, check=True
        )
        return done.stdout


@contextmanager
def http(folder: Path, behaviour: str = "well") -> Iterator[GitServer]:
    """A server over the bare repositories of a folder."""
    with GitServer(folder, behaviour) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def daemon(folder: Path) -> Iterator[str]:
    """`git daemon` over the same, with pushing allowed; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ("--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1", f"--port={port}")
    process = subprocess.Popen(["git", "daemon", *options, f"--base-path={folder}"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield f"git://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()
