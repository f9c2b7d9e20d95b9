"""The slow tests that the branch touches were run: the ordinary run leaves them out, so it says nothing of them.

A test is slow by its own decorator, by that of its class, or by `pytestmark`. Who edits a model touches the slow tests
of its folder: `tests/models/<name>` for `models/<name>/modeling_*.py`, and so for pipelines.

A run counts that was recorded on this very tree with RUN_SLOW set and names the test; a skipped test (no accelerator)
was not run. On GitHub a green check counts whose name matches `checks`.

In `[tool.mergeready.pr.slow-tests]`, `marks` are the names of the decorators, `variables` those that turn slow tests
on, and `checks` globs of the names of checks that run them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest
from tooling.pr.sources import is_test, python_changes
from tooling.pr.symbols import Symbol

CODES = {
    "none": "The branch touches no slow test.",
    "run": "Every slow test that the branch touches was run on this tree, and passed.",
    "skipped": "A slow test was collected and skipped, so it was not run.",
    "not-run": "No run of a slow test that the branch touches is known.",
}
BOX = "The slow tests that it touches were run: `nox -s slow`."
ALIASES = ()
OPTIONS: dict[str, object] = {
    "marks": ("slow", "nightly"),
    "variables": ("RUN_SLOW", "RUN_NIGHTLY"),
    "checks": ("*slow*",),
}
READS = "change"

_MODEL = re.compile(r".*/(models|pipelines)/(\w+)/(?:modeling|modular|pipeline)_\w+\.py")
_TRUE = frozenset({"1", "y", "yes", "t", "true", "on"})


def judge(pull: PullRequest) -> Decision:
    """Pass where each was run; at a terminal leave to a person what was not, on GitHub warn of it."""
    touched = list(_slow(pull))
    if not touched:
        return Decision(Verdict.SKIP, "slow-tests/none", "no slow test is touched")
    names = pull.option("slow-tests", "checks")
    green = [
        check
        for check in pull.checks or ()
        if check.outcome == "success" and any(fnmatchcase(check.name.lower(), name) for name in names)
    ]
    if green:
        shown = tuple(Evidence(check.name) for check in green)
        return Decision(Verdict.PASS, "slow-tests/run", "a check that runs slow tests is green", shown)
    return _from_ledger(pull, touched)


def _from_ledger(pull: PullRequest, touched: list[tuple[str, Evidence]]) -> Decision:
    variables = pull.option("slow-tests", "variables")
    runs = [run for run in pull.runs if any(run.environment.get(name, "").lower() in _TRUE for name in variables)]
    ran = {name for run in runs if run.exit == 0 for name in run.ran}
    unrun = {name for run in runs for name in run.unrun} - ran
    left = [(name, row) for name, row in touched if not _names(name, ran)]
    if not left:
        return Decision(
            Verdict.PASS, "slow-tests/run", f"slow tests that were run on this tree, and passed: {len(touched)}"
        )
    mend = "RUN_SLOW=1 mergeready tests -- pytest and the files, or nox -s slow"
    skipped = tuple(row for name, row in left if _names(name, unrun))
    if skipped:
        message = f"slow tests that were skipped where they were run: {len(skipped)}"
        return Decision(Verdict.WARN, "slow-tests/skipped", message, skipped, mend)
    verdict = Verdict.MANUAL if pull.checks is None else Verdict.WARN
    message = f"in no recorded run: {len(left)} of {len(touched)} slow tests that it touches"
    return Decision(verdict, "slow-tests/not-run", message, tuple(row for _, row in left), mend)


def _slow(pull: PullRequest) -> Iterator[tuple[str, Evidence]]:
    """Each slow test that the branch touches: its name as the ledger writes it, or how names begin; where it is."""
    marks = frozenset(pull.option("slow-tests", "marks"))
    if not marks:
        return
    marked = re.compile(rf"(?:@[ \t]*(?:\w+\.)*|\bmark\.)(?:{'|'.join(map(re.escape, marks))})\b")
    yield from _of_models(pull, marked)
    for change in python_changes(pull.changed):
        text = pull.sources.text(change.id) or "" if is_test(change.path) else ""
        if not marked.search(text):
            continue
        all_slow = _module_is_slow(text, marks)
        for edited in pull.sources.edited(pull.changed, change):
            symbol = edited.symbol
            if symbol.short.startswith("test") and not symbol.is_class and (all_slow or _is_slow(symbol, marks)):
                module = change.path.removesuffix(".py").replace("/", ".")
                yield f"{module}.{symbol.name}", Evidence(symbol.name, change.path, symbol.line)


def _of_models(pull: PullRequest, marked: re.Pattern[str]) -> Iterator[tuple[str, Evidence]]:
    """The folders of slow tests that belong to models which the branch edits."""
    edited = {}
    for change in python_changes(pull.changed):
        if hit := _MODEL.fullmatch(change.path):
            edited[f"tests/{hit[1]}/{hit[2]}/"] = change.path
    for folder, path in edited.items():
        tests = [each for each in pull.paths if each.startswith(folder) and each.endswith(".py")]
        if any(marked.search(pull.sources.text(f"{pull.changed.head}:{each}") or "") for each in tests):
            yield folder.replace("/", "."), Evidence(f"slow tests of a model that was edited: {path}", folder)


def _is_slow(symbol: Symbol, marks: frozenset[str]) -> bool:
    names = {name.rpartition(".")[2] for name in symbol.decorators}
    own_mark = re.search(r"^\s+pytestmark\s*=(.*)", symbol.own, re.MULTILINE) if symbol.is_class else None
    if names & marks or (own_mark and _module_is_slow(f"pytestmark ={own_mark[1]}", marks)):
        return True
    return symbol.inside is not None and _is_slow(symbol.inside, marks)


def _module_is_slow(text: str, marks: frozenset[str]) -> bool:
    assigned = re.search(r"^pytestmark\s*=\s*(\[[^\]]*\]|[^\n]*)", text, re.MULTILINE)
    return bool(assigned and marks & set(re.findall(r"\bmark\.(\w+)", assigned[1])))


def _names(test: str, known: set[str]) -> bool:
    """Whether a test is among names that may start at another folder than the root of the repository.

    One that ends in a dot is the start of names, and any of them will do.
    """
    if test.endswith("."):
        return any(f".{test}" in f".{name}" or name.startswith(test.partition(".")[2]) for name in known)
    return any(name == test or test.endswith(f".{name}") or name.endswith(f".{test}") for name in known)
