"""Run extractors over many files, on several processes where the work is worth starting them."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from checks.errors import CheckError
from checks.text import decode

if TYPE_CHECKING:
    from checks.extractor import Extractor
    from checks.tree import Tree

_WORTH_A_POOL = 150  # files; below it, starting processes costs more than it saves
_CHUNK = 24

Extracted = tuple[str, list[str]]


def extract_all(
    tree: Tree, paths: Sequence[str], extractors: Sequence[Extractor[Any]], jobs: int, text: Callable[[str], str]
) -> Iterator[Extracted]:
    """The facts of every file as JSON, one value an extractor; files that cannot be read are left out."""
    folder = tree.folder
    if jobs < 2 or folder is None or len(paths) < _WORTH_A_POOL:
        for path in paths:
            content = text(path)
            yield path, [_as_json(extractor, content) for extractor in extractors]
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
    pool = ProcessPoolExecutor(max_workers=jobs, initializer=_end_on_interrupt)
    try:
        for found in pool.map(_extract_chunk, *zip(*((folder, chunk, extractors) for chunk in chunks), strict=True)):
            yield from found
    except BrokenProcessPool as error:
        hint = "where memory is short, use fewer with --jobs"
        raise CheckError("a process that reads files was ended from outside", hint=hint, environment=True) from error
    finally:
        pool.shutdown(cancel_futures=True)


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
