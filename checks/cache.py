"""Facts and verdicts of earlier runs, in one SQLite file that is safe to delete, to race and to corrupt.

Facts are keyed by content, verdicts by what they read. Every value carries a checksum; whatever is wrong with the
file, the run goes on without it.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

_SCHEMA = """
DROP TABLE IF EXISTS facts;
DROP TABLE IF EXISTS verdicts;
CREATE TABLE facts (extractor TEXT, key TEXT, crc INTEGER, value TEXT, PRIMARY KEY (extractor, key)) WITHOUT ROWID;
CREATE TABLE verdicts (id INTEGER PRIMARY KEY, name TEXT, crc INTEGER, value TEXT);
CREATE INDEX verdict_names ON verdicts (name)
"""
_SAME_NAME = 6  # verdicts kept under one name
_VERDICTS = 600  # verdicts kept in all; settings that change bring new names
_GROWTH = 3  # facts of one extractor are pruned to the present tree when they outnumber it by this factor


class Cache:
    """A store of text by key. `path` None keeps nothing; what code of another `stamp` has written is dropped."""

    def __init__(self, path: str | None, stamp: int = 0) -> None:
        self._path = path
        self._stamp = stamp
        self._connection = _open(path, stamp) if path else None

    def facts(self, extractor: str) -> dict[str, str]:
        """Every value of one extractor, by content key."""
        rows = self._read("SELECT key, crc, value FROM facts WHERE extractor = ?", extractor)
        return {key: value for key, crc, value in rows if self._sum(extractor, key, value) == crc}

    def verdicts(self, name: str) -> list[str]:
        """The verdicts kept under a name, newest first."""
        rows = self._read("SELECT crc, value FROM verdicts WHERE name = ? ORDER BY id DESC", name)
        return [value for crc, value in rows if self._sum(name, "", value) == crc]

    def store(
        self,
        facts: Mapping[str, Mapping[str, str]],
        verdicts: Mapping[str, str],
        alive: Collection[str],
    ) -> None:
        """Add new facts by extractor and key, and new verdicts by name; prune what no file in `alive` has."""
        if self._connection is None or not (any(facts.values()) or verdicts):
            return
        try:
            with self._connection as base:
                for extractor, values in facts.items():
                    rows = ((extractor, key, self._sum(extractor, key, value), value) for key, value in values.items())
                    base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", rows)
                    _prune(base, extractor, alive)
                for name, value in verdicts.items():
                    row = (name, self._sum(name, "", value), value)
                    base.execute("INSERT INTO verdicts (name, crc, value) VALUES (?, ?, ?)", row)
                    base.execute(_PRUNE_SAME_NAME, {"name": name, "kept": _SAME_NAME})
                base.execute("DELETE FROM verdicts WHERE id <= (SELECT MAX(id) FROM verdicts) - ?", (_VERDICTS,))
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self._give_up(error)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _read(self, query: str, name: str) -> Iterable[tuple[Any, ...]]:
        if self._connection is None:
            return ()
        try:
            return self._connection.execute(query, (name,)).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            self._give_up(error)
            return ()

    def _sum(self, *texts: object) -> int:
        """A checksum of a row and of the code it belongs to: another version may write while we read."""
        total = self._stamp
        for text in texts:
            if not isinstance(text, str):  # bytes of a broken file
                return -1
            total = zlib.crc32(text.encode("utf-8", "surrogatepass"), zlib.crc32(b"\0", total))
        return total

    def _give_up(self, error: Exception) -> None:
        """Go on without the cache; a file that is broken makes room for a new one."""
        self.close()
        if self._path and not _passing(error):
            _remove(self._path)


_PRUNE_SAME_NAME = """
DELETE FROM verdicts WHERE name = :name AND id NOT IN
(SELECT id FROM verdicts WHERE name = :name ORDER BY id DESC LIMIT :kept)
"""
# What another process, a lack of rights or a full disk brings about; any other error means that the file is broken.
_PASSING = frozenset(
    {
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
        *(
            sqlite3.SQLITE_PERM,
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_INTERRUPT,
            sqlite3.SQLITE_NOMEM,
        ),
    }
)


def _passing(error: Exception) -> bool:
    return isinstance(error, OSError | UnicodeEncodeError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING


def _open(path: str, stamp: int) -> sqlite3.Connection | None:
    for _ in range(2):
        base = None
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            base = sqlite3.connect(path, timeout=0.5)
            # Losing the last writes to a power cut costs a slower run; waiting for the disk costs every run.
            base.execute("PRAGMA synchronous = OFF")
            if base.execute("PRAGMA user_version").fetchone() != (stamp,):
                base.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}; PRAGMA user_version = {stamp:d}; COMMIT")
            return base
        except (sqlite3.Error, OSError, UnicodeError) as error:
            if base is not None:
                base.close()
            if _passing(error):
                return None
            _remove(path)
    return None


def _remove(path: str) -> None:
    """Delete the file; with its journal, which would be played back into the next one."""
    for name in (path, f"{path}-journal", f"{path}-wal", f"{path}-shm"):
        try:
            os.unlink(name)
        except OSError:
            pass


def _prune(base: sqlite3.Connection, extractor: str, alive: Collection[str]) -> None:
    (count,) = base.execute("SELECT COUNT(*) FROM facts WHERE extractor = ?", (extractor,)).fetchone()
    if count > _GROWTH * (len(alive) + 100):
        keys = [key for (key,) in base.execute("SELECT key FROM facts WHERE extractor = ?", (extractor,))]
        dead = ((extractor, key) for key in keys if key not in alive)
        base.executemany("DELETE FROM facts WHERE extractor = ? AND key = ?", dead)
