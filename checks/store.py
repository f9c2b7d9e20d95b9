"""Everything known about one tree: texts read at most once, facts remembered by content in memory and on disk."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from checks.extractor import Extractor
from checks.text import decode

if TYPE_CHECKING:
    from checks.cache import Cache
    from checks.parallel import Workers
    from checks.tree import Tree

T = TypeVar("T")
_TEXT_BUDGET = 64 << 20  # bytes of text kept in memory


class Store:
    """One tree and what is known of it; all readings of the index share it."""

    def __init__(self, tree: Tree, cache: Cache, jobs: int) -> None:
        self.tree = tree
        self.cache = cache
        self.jobs = jobs
        self.paths = tuple(sorted(tree.keys))
        self.problems: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._size = 0
        self._stored: dict[str, dict[str, str]] = {}
        self._loaded: dict[tuple[str, str], Any] = {}
        self._new: dict[str, dict[str, str]] = {}
        self._verdicts: dict[str, str] = {}
        self._remembered: set[str] = set()
        self._listing: str | None = None
        self._workers: Workers | None = None

    def text(self, path: str) -> str:
        """The text of a file, empty for one that is not there or cannot be read (see `problems`)."""
        if path in self._texts:
            return self._texts[path]
        if path not in self.tree.keys:
            return ""
        try:
            text = decode(self.tree.read(path))
        except OSError as error:
            self.problems[path] = error.strerror or str(error)
            return ""
        size = sys.getsizeof(text)
        if self._size + size > _TEXT_BUDGET:
            self._texts.clear()
            self._size = 0
        self._texts[path] = text
        self._size += size
        return text

    def facts(self, extractor: Extractor[T], path: str) -> T:
        """What an extractor finds in a file, from the cache where its content was seen before."""
        key = self.tree.keys.get(path, "")
        slot = (extractor.name, key)
        if slot not in self._loaded:
            stored = self._values(extractor).get(key)
            if stored is None:
                stored = json.dumps(extractor.extract(self.text(path)), separators=(",", ":"))
                if path in self.problems:  # not the facts of its key, which another file may share
                    return extractor.load(json.loads(stored))
                self._add(extractor, key, stored)
            self._loaded[slot] = extractor.load(json.loads(stored))
        value: T = self._loaded[slot]
        return value

    def prefetch(self, paths: list[str], extractors: tuple[Extractor[Any], ...]) -> None:
        """Extract from many files at once, on all cores where that pays."""
        keys = self.tree.keys
        missing = [
            path
            for path in paths
            if path in keys and any(keys[path] not in self._values(extractor) for extractor in extractors)
        ]
        if not missing:
            return
        if self._workers is None:
            from checks.parallel import Workers

            self._workers = Workers(self.jobs)
        for path, values in self._workers.extract_all(self.tree, missing, extractors, self.text):
            if path in self.problems:
                continue
            for extractor, value in zip(extractors, values, strict=True):
                self._add(extractor, keys[path], value)

    def remember(self, name: str, texts: list[str], compute: Callable[[list[str]], list[str]]) -> list[str]:
        """One result a text, computed in one batch for those that the cache does not hold under `name`."""
        extractor = Extractor(name, str, str)
        keys = [
            hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() for text in texts
        ]
        known = self._values(extractor)
        self._remembered.update(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            for key, value in zip(missing, compute(list(missing.values())), strict=True):
                self._add(extractor, key, json.dumps(value))  # ASCII, whatever half characters the text holds
        return [json.loads(known[key]) for key in keys]

    def digest(self, reads: Iterable[str], *, listed: bool) -> str:
        """A hash of the content of files, and of the list of all paths where `listed` is true."""
        keys, others = self.tree.keys, self.tree.others
        state = hashlib.sha1(usedforsecurity=False)
        if listed:
            if self._listing is None:
                listing = "\0".join((*self.paths, "", *sorted(others)))
                self._listing = hashlib.sha1(_bytes(listing), usedforsecurity=False).hexdigest()
            state.update(self._listing.encode())
        state.update(_bytes("\0".join([keys.get(path, "+" if path in others else "-") for path in reads])))
        return state.hexdigest()

    def keep_verdict(self, name: str, verdict: str) -> None:
        """Note a verdict for `save`."""
        self._verdicts[name] = verdict

    def save(self) -> None:
        """Write new facts and verdicts to the cache; none that a file may have changed under, no verdict if one was."""
        if self._new or self._verdicts:
            outdated = self.tree.outdated()
            for values in self._new.values():
                for key in outdated & values.keys():
                    del values[key]
            verdicts = {} if self.problems or outdated else self._verdicts
            self.cache.store(self._new, verdicts, self._remembered | {*self.tree.keys.values()})
        self._new, self._verdicts = {}, {}

    def close(self) -> None:
        """End the processes that were started for it."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def _values(self, extractor: Extractor[Any]) -> dict[str, str]:
        if extractor.name not in self._stored:
            self._stored[extractor.name] = self.cache.facts(extractor.name)
        return self._stored[extractor.name]

    def _add(self, extractor: Extractor[Any], key: str, value: str) -> None:
        self._values(extractor)[key] = value
        self._new.setdefault(extractor.name, {})[key] = value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
