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
_VERDICTS_KEPT = 6
_GROWTH = 3  # facts of one extractor are pruned to the present tree when they outnumber it by this factor


class Cache:
    """A store of text by key. `path` None keeps nothing; what code of another `stamp` has written is dropped."""

    def __init__(self, path: str | None, stamp: int = 0) -> None:
        self._path = path
        self._connection = _open(path, stamp) if path else None

    def facts(self, extractor: str) -> dict[str, str]:
        """Every value of one extractor, by content key."""
        rows = self._read("SELECT key, crc, value FROM facts WHERE extractor = ?", extractor)
        return {key: value for key, crc, value in rows if isinstance(value, str) and _crc(value) == crc}

    def verdicts(self, name: str) -> list[str]:
        """The verdicts kept under a name, newest first."""
        rows = self._read("SELECT crc, value FROM verdicts WHERE name = ? ORDER BY id DESC", name)
        return [value for crc, value in rows if isinstance(value, str) and _crc(value) == crc]

    def store(
        self,
        facts: Mapping[str, Mapping[str, str]],
        verdicts: Mapping[str, str],
        alive: Collection[str],
    ) -> None:
        """Add new facts by extractor and key, and new verdicts by name; prune what no file in `alive` has."""
        if self._connection is None or not (facts or verdicts):
            return
        try:
            with self._connection as base:
                for extractor, values in facts.items():
                    rows = ((extractor, key, _crc(value), value) for key, value in values.items())
                    base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", rows)
                    _prune(base, extractor, alive)
                for name, value in verdicts.items():
                    base.execute("INSERT INTO verdicts (name, crc, value) VALUES (?, ?, ?)", (name, _crc(value), value))
                    base.execute(
                        "DELETE FROM verdicts WHERE name = ?1 AND id NOT IN "
                        "(SELECT id FROM verdicts WHERE name = ?1 ORDER BY id DESC LIMIT ?2)",
                        (name, _VERDICTS_KEPT),
                    )
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

    def _give_up(self, error: Exception) -> None:
        """Go on without the cache; a file that is broken, not merely busy or read-only, makes room for a new one."""
        self.close()
        if self._path and not isinstance(error, sqlite3.OperationalError):
            _remove(self._path)


def _open(path: str, stamp: int) -> sqlite3.Connection | None:
    for _ in range(2):
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            base = sqlite3.connect(path, timeout=0.5)
            # Losing the last writes to a power cut costs a slower run; waiting for the disk costs every run.
            base.execute("PRAGMA synchronous = OFF")
            if base.execute("PRAGMA user_version").fetchone() != (stamp,):
                base.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}; PRAGMA user_version = {stamp:d}; COMMIT")
            return base
        except (sqlite3.OperationalError, OSError):
            return None
        except sqlite3.Error:
            _remove(path)
    return None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _prune(base: sqlite3.Connection, extractor: str, alive: Collection[str]) -> None:
    (count,) = base.execute("SELECT COUNT(*) FROM facts WHERE extractor = ?", (extractor,)).fetchone()
    if count > _GROWTH * (len(alive) + 100):
        keys = [key for (key,) in base.execute("SELECT key FROM facts WHERE extractor = ?", (extractor,))]
        dead = ((extractor, key) for key in keys if key not in alive)
        base.executemany("DELETE FROM facts WHERE extractor = ? AND key = ?", dead)


def _crc(value: str) -> int:
    return zlib.crc32(value.encode("utf-8", "surrogatepass"))
