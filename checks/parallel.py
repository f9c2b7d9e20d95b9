"""Run extractors over many files, on several processes where the work is worth starting them."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from checks.errors import CheckError
from checks.text import decode

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from checks.extractor import Extractor
    from checks.tree import Tree

_WORTH_A_POOL = 150  # files; below it, starting processes costs more than it saves
_CHUNK = 24

Extracted = tuple[str, list[str]]


class Workers:
    """Processes that extract, as many as `jobs`: started for the first work that is worth it, kept until `close`."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def extract_all(
        self, tree: Tree, paths: Sequence[str], extractors: Sequence[Extractor[Any]], text: Callable[[str], str]
    ) -> Iterator[Extracted]:
        """The facts of every file as JSON, one value an extractor; files that cannot be read are left out."""
        folder = tree.folder
        if folder is None or self._jobs < 2 or len(paths) < (2 if self._pool else _WORTH_A_POOL):
            for path in paths:
                content = text(path)
                yield path, [_as_json(extractor, content) for extractor in extractors]
            return
        from concurrent.futures import ProcessPoolExecutor as Pool
        from concurrent.futures.process import BrokenProcessPool

        # Several chunks a process, so that one with large files does not keep all others waiting.
        size = max(1, min(_CHUNK, len(paths) // (4 * self._jobs)))
        chunks = [paths[start : start + size] for start in range(0, len(paths), size)]
        self._pool = self._pool or Pool(max_workers=self._jobs, initializer=_end_on_interrupt)
        try:
            work = zip(*((folder, chunk, extractors) for chunk in chunks), strict=True)
            for found in self._pool.map(_extract_chunk, *work):
                yield from found
        except BrokenProcessPool as error:
            hint = "where memory is short, use fewer with --jobs"
            message = "a process that reads files was ended from outside"
            raise CheckError(message, hint=hint, environment=True) from error

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _end_on_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal: this one ends without a traceback, its parent has the word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _extract_chunk(folder: str, paths: Sequence[str], extractors: Sequence[Extractor[Any]]) -> list[Extracted]:
    found: list[Extracted] = []
    for path in paths:
        try:
            with open(f"{folder}/{path}", "rb") as file:
                content = decode(file.read())
        except OSError:
            continue
        found.append((path, [_as_json(extractor, content) for extractor in extractors]))
    return found


def _as_json(extractor: Extractor[Any], text: str) -> str:
    return json.dumps(extractor.extract(text), separators=(",", ":"))
