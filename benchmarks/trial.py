"""Plant faults in a tree, one at a time, ask everybody, and put the tree back as it was."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from corpus import git
from faults.model import Fault, Kind
from scripts import Answer, Running, Script
from timing import console_script

from checks.cache import Cache
from checks.change import caused
from checks.engine import code_stamp
from checks.model import Finding
from checks.run import Judge
from checks.tree import WorkTree


class Result(NamedTuple):
    """Who found a fault: whether we did, and the scripts that did."""

    kind: Kind
    fault: Fault
    found: bool
    scripts: tuple[Script, ...]


class Trial:
    """A tree without a fault, what some rules find there, and what its scripts say of it.

    `ends` are the line ends of new files.
    """

    def __init__(self, root: Path, rules: Sequence[str], scripts: Sequence[Script], ends: str) -> None:
        self._root = root
        self._ends = ends
        cache = Cache(str(root / ".git" / "mergeready" / "checks.sqlite3"), code_stamp())
        self._judge = Judge(cache, lambda _: rules, jobs=os.cpu_count() or 1)
        self._scripts = scripts
        self.findings = self._judge(WorkTree(str(root))).findings
        self._answers = dict(zip(scripts, self._ask(scripts), strict=True))

    def run(self, kind: Kind, fault: Fault) -> Result:
        """Plant a fault and see who finds it."""
        with self._planted(fault):
            asked = [script for script in self._scripts if script.concerns(fault.writes)]
            at_work = [(script, Running(script, self._root)) for script in asked if not script.rewrites]
            found = self._is_found(kind, fault)
            answers = [(script, running.answer()) for script, running in at_work]
            rewriting = [script for script in asked if script.rewrites]
            answers += zip(rewriting, self._ask(rewriting), strict=True)
        told = tuple(script for script, answer in answers if answer != self._answers[script])
        return Result(kind, fault, found, told)

    def close(self) -> None:
        """Make sure that nothing is left of any fault; AssertionError if something is."""
        left = git(self._root, "status", "--porcelain")
        assert not left, f"the tree is not as it was:\n{left}"

    def _ask(self, scripts: Sequence[Script]) -> Iterator[Answer]:
        return (Running(script, self._root).answer() for script in scripts)

    def _is_found(self, kind: Kind, fault: Fault) -> bool:
        present = self._judge(WorkTree(str(self._root))).findings
        new = {(found.code, found.path) for found in caused(present, self.findings, frozenset())}
        if not all((kind.code, path) in new for path in fault.paths):
            return False
        elsewhere = fault.paths - fault.writes.keys()
        return not elsewhere or elsewhere <= self._changed(kind.code)

    def _changed(self, code: str) -> frozenset[str]:
        """The files in which `mergeready check --changed` reports a code."""
        rule = code.partition("/")[0]
        command = [console_script("mergeready"), "check", rule, "--changed", "--base", "HEAD", "--format", "json"]
        process = subprocess.run(command, cwd=self._root, capture_output=True, encoding="utf-8", check=False)
        if process.returncode not in (0, 1):
            raise RuntimeError(process.stderr)
        findings = json.loads(process.stdout)["findings"]
        return frozenset(found["path"] for found in findings if found["code"] == code)

    @contextmanager
    def _planted(self, fault: Fault) -> Iterator[None]:
        paths = {self._root / path: text for path, text in fault.writes.items()}
        before = {path: path.read_bytes() if path.exists() else None for path in paths}
        modes = {path: path.stat().st_mode for path in paths if path.exists()}
        try:
            for path, text in paths.items():
                ends = _ends(before[path], self._ends)
                _write(path, None if text is None else text.replace("\n", ends).encode())
            yield
        finally:
            for path, content in before.items():
                _write(path, content)
            for path, mode in modes.items():
                path.chmod(mode)


def differences(before: Sequence[Finding], after: Sequence[Finding]) -> list[str]:
    """What was found only in one of two states of a tree, for people."""
    gone, new = caused(before, after, frozenset()), caused(after, before, frozenset())
    return [
        f"{found.path}:{found.line} {found.code} {what}"
        for findings, what in ((gone, "is no longer found"), (new, "is found"))
        for found in findings
    ]


def _ends(content: bytes | None, otherwise: str) -> str:
    if content is None:
        return otherwise
    return "\r\n" if b"\r\n" in content else "\n"


def _write(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(content)
