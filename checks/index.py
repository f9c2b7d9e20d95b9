"""What rules ask: paths, texts and facts of a tree.

Every rule gets a `reading` of its own, which notes what the rule read, absence included: that is the key of the
rule's verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from checks.extractor import Extractor
    from checks.settings import Settings
    from checks.store import Store

T = TypeVar("T")


class Index:
    """One tree, as one rule sees it."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.settings = settings
        self._store = store
        self._reads: set[str] = set()
        self._listed = False

    def reading(self) -> Index:
        """The same tree with an empty record of what was read."""
        return Index(self._store, self.settings)

    def reads(self) -> tuple[bool, tuple[str, ...]]:
        """Whether the list of paths was read, and which files were, sorted."""
        return self._listed, tuple(sorted(self._reads))

    @property
    def paths(self) -> tuple[str, ...]:
        """The path of every file, sorted."""
        self._listed = True
        return self._store.paths

    def files(self, *suffixes: str, under: str = "") -> tuple[str, ...]:
        """The paths below a folder that end in one of the suffixes, sorted; `under` empty means everywhere."""
        prefix = f"{under}/" if under not in ("", ".") else ""
        return tuple(path for path in self.paths if path.startswith(prefix) and path.endswith(suffixes))

    def matching(self, *patterns: str) -> tuple[str, ...]:
        """The paths that match one of the glob patterns, where `*` matches a slash too, sorted."""
        return tuple(path for path in self.paths if any(fnmatchcase(path, pattern) for pattern in patterns))

    def exists(self, path: str) -> bool:
        """Whether a file is there; a link or a submodule counts."""
        self._reads.add(path)
        return path in self._store.tree.keys or path in self._store.tree.others

    def text(self, path: str) -> str:
        """The text of a file with LF line ends and no byte order mark, empty for one that is not there."""
        self._reads.add(path)
        return self._store.text(path)

    def facts(self, extractor: Extractor[T], path: str) -> T:
        """What an extractor finds in a file; its facts about the empty text for one that is not there."""
        self._reads.add(path)
        return self._store.facts(extractor, path)

    def prefetch(self, paths: Iterable[str], *extractors: Extractor[Any]) -> None:
        """Extract from many files at once, on all cores where that pays; changes nothing but the time it takes."""
        self._store.prefetch(list(paths), extractors)

    def remember(self, name: str, texts: Iterable[str], compute: Callable[[list[str]], list[str]]) -> list[str]:
        """One result a text, in order; `compute` is called once, with those that no earlier run has seen.

        For work that depends on nothing but the text and what `name` spells out: a formatter, its version and its
        options.
        """
        return self._store.remember(name, list(texts), compute)

    def digest(self, reads: Iterable[str], *, listed: bool) -> str:
        """A hash of the present content of files, and of the list of paths where `listed` is true."""
        return self._store.digest(reads, listed=listed)

    def stored_verdicts(self, name: str) -> list[str]:
        """The verdicts that earlier runs kept under a name, newest first."""
        return self._store.cache.verdicts(name)

    def store_verdict(self, name: str, verdict: str) -> None:
        """Keep a verdict for later runs, once this one is over."""
        self._store.keep_verdict(name, verdict)
