"""Run rules over a tree: each verdict from the cache where everything it read is unchanged, from the rule otherwise."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib.machinery import PathFinder
from typing import Any, NamedTuple, cast

from checks.index import Index
from checks.model import Edit, Finding, Findings, Rule
from checks.settings import Settings
from checks.store import Store


class Verdict(NamedTuple):
    """What one rule says: its findings in order, how many subjects it looked at, how long it took."""

    rule: str
    subjects: int
    findings: tuple[Finding, ...]
    seconds: float
    cached: bool = False


def load_rule(name: str) -> Rule:
    """The module of a rule, by its name with dashes."""
    return cast(Rule, importlib.import_module(f"checks.rules.{name.replace('-', '_')}"))


def judge(
    store: Store, settings: Settings, rules: Sequence[str], *, started: Callable[[str], None] = lambda _: None
) -> tuple[Verdict, ...]:
    """The verdict of each rule named, in the order given; `started` hears of each rule before it runs."""
    index = Index(store, settings)
    verdicts: list[Verdict] = []
    for name in rules:
        started(name)
        verdicts.append(remembered(index.reading(), name, partial(_check, name)))
    return tuple(verdicts)


def remembered(index: Index, name: str, check: Callable[[Index], Findings]) -> Verdict:
    """The verdict of a check, from the cache where all that it read then is the same now."""
    began = time.perf_counter()
    key = f"{name} {index.settings.digest()}"
    for text in index.stored_verdicts(key):
        known = json.loads(text)
        reads = known["reads"].split("\0") if known["reads"] else ()
        if index.digest(reads, listed=known["listed"]) == known["digest"]:
            findings = tuple(map(_finding, known["findings"]))
            return Verdict(name, known["subjects"], findings, time.perf_counter() - began, cached=True)
    subjects, findings = collect(check(index))
    listed, reads = index.reads()
    digest = index.digest(reads, listed=listed)
    known = {"listed": listed, "reads": "\0".join(reads), "digest": digest, "subjects": subjects, "findings": findings}
    index.store_verdict(key, json.dumps(known, separators=(",", ":")))
    return Verdict(name, subjects, findings, time.perf_counter() - began)


def collect(findings: Findings) -> tuple[int, tuple[Finding, ...]]:
    """Exhaust a check: how many subjects it says it looked at, and its findings by path and line."""
    found: list[Finding] = []
    while True:
        try:
            found.append(next(findings))
        except StopIteration as end:
            return end.value, tuple(sorted(found, key=lambda finding: finding[:4]))


def chosen(
    settings: Settings, names: Iterable[str], only: Iterable[str], skip: Iterable[str], known: Sequence[str]
) -> tuple[str, ...]:
    """The rules to run: those named, or those that the settings select, without those to skip; in the table's order."""
    asked = {*names, *only} or set(settings.select) or set(known)
    left_out = {*skip} | (set() if {*names, *only} else set(settings.skip))
    return tuple(name for name in known if name in asked and name not in left_out)


def _check(name: str, index: Index) -> Findings:
    return load_rule(name).check(index)


@cache
def code_stamp() -> int:
    """A positive 31-bit hash of this package's own code, of Python and of the formatters that rules ask.

    Facts and verdicts of another version are never taken for ours.
    """
    stamp = zlib.crc32(sys.version.encode())
    for where, folders, names in os.walk(os.path.dirname(__file__)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(where, name), "rb") as file:
                    stamp = zlib.crc32(file.read(), stamp)
    for package in ("black", "ruff"):
        stamp = zlib.crc32(_installed(package).encode("utf-8", "surrogateescape"), stamp)
    return (stamp & 0x7FFFFFFF) or 1


def _installed(package: str) -> str:
    """What tells one installation of a package from another, without importing it."""
    found = PathFinder.find_spec(package)
    if found is None or found.origin is None:
        return ""
    state = os.stat(found.origin)
    return f"{found.origin} {state.st_size:x} {state.st_mtime_ns:x}"


def _finding(fields: list[Any]) -> Finding:
    found = Finding(*fields)
    return found._replace(
        edits=tuple(Edit(*edit) for edit in found.edits),
        anchors=tuple(found.anchors),
        follows=cast("tuple[str, int, str] | None", tuple(found.follows) if found.follows else None),
        source=cast("tuple[str, int] | None", tuple(found.source) if found.source else None),
    )
