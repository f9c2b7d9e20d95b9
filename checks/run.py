"""One run from tree to outcome: verdicts, then what is silenced, accepted, excluded or not of this change."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple

from checks import baseline, suppress
from checks.baseline import Acceptance
from checks.cache import Cache
from checks.engine import Verdict, judge, load_rule, remembered
from checks.index import Index
from checks.model import Finding
from checks.settings import RULE_NAMES, Settings, read_settings
from checks.standing import is_excluded
from checks.store import Store
from checks.tree import Tree

Started = Callable[[str], None]


class Outcome(NamedTuple):
    """All that a run found out. Findings are sorted by path and line.

    `findings` are to be mended; `silenced` are suppressed by a comment, `accepted` by the baseline; `stale` are
    acceptances that nothing needs. `notes` are sentences about the run itself. `seconds` is wall-clock time.
    """

    settings: Settings
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()
    accepted: tuple[Finding, ...] = ()
    stale: tuple[Acceptance, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


class Judge:
    """Judges trees that share a cache: the present one, the base of a change, what a fix would make."""

    def __init__(self, cache: Cache, rules: Callable[[Settings], Sequence[str]], *, jobs: int = 1) -> None:
        self._cache = cache
        self._rules = rules
        self._jobs = jobs

    def __call__(self, tree: Tree, started: Started = lambda _: None) -> Outcome:
        """The outcome of all chosen rules on a tree, by the settings and the baseline of that tree."""
        with closing(Store(tree, self._cache, self._jobs)) as store:
            return self._judge(store, started)

    def _judge(self, store: Store, started: Started) -> Outcome:
        began = time.perf_counter()
        settings = read_settings(store)
        names = self._rules(settings)
        index = Index(store, settings)
        acceptances = baseline.parse(index.text(settings.baseline), settings.baseline)
        verdicts = judge(store, settings, names, started=started)
        comments = remembered(index.reading(), suppress.NAME, suppress.collect)
        store.save()
        found = tuple(found for verdict in verdicts for found in verdict.findings)
        found += _too_few(verdicts, settings) + _unreadable(store.problems)
        outcome = _sift(found, comments, acceptances, settings, names)
        notes = [f"{verdict.rule} looked at nothing here" for verdict in verdicts if verdict.subjects == 0]
        return outcome._replace(verdicts=verdicts, notes=tuple(notes), seconds=time.perf_counter() - began)


def codes() -> dict[str, str]:
    """Every code a run can report, and what it means in a sentence."""
    known = {f"{name}/{what}": text for name in RULE_NAMES for what, text in load_rule(name).CODES.items()}
    known |= {f"{suppress.NAME}/{what}": text for what, text in suppress.CODES.items()}
    return known | _OWN_CODES


_OWN_CODES = {
    "run/too-few": "A rule looked at fewer subjects than the settings say there must be.",
    "run/conflict": "Merging HEAD into the base conflicts in this file.",
    "run/unreadable": "A file could not be read, so no rule has judged it.",
}


def _sift(
    found: tuple[Finding, ...],
    comments: Verdict,
    acceptances: tuple[Acceptance, ...],
    settings: Settings,
    ran: Sequence[str],
) -> Outcome:
    suppressions = tuple(map(suppress.of_finding, comments.findings))
    kept, silenced, faults = suppress.apply(found, suppressions, ran, _known)
    kept, accepted, stale = baseline.apply(kept, acceptances)
    kept = tuple(found for found in (*kept, *faults) if not is_excluded(found.path, settings))
    stale = tuple(row for row in stale if row.code.partition("/")[0] in ran)
    return Outcome(settings, (), tuple(sorted(kept, key=lambda found: found[:4])), silenced, accepted, stale)


def _known(name: str) -> bool:
    """Whether a rule or a code has this name; a rule is not loaded to know its own name."""
    return name in RULE_NAMES or name in codes()


def _too_few(verdicts: Sequence[Verdict], settings: Settings) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            settings.source,
            1,
            "run/too-few",
            f"{verdict.rule} must look at {settings.minimum[verdict.rule]} subjects at least",
            f"it saw {verdict.subjects}",
        )
        for verdict in verdicts
        if verdict.subjects < settings.minimum.get(verdict.rule, 0)
    )


def _unreadable(problems: dict[str, str]) -> tuple[Finding, ...]:
    return tuple(
        Finding(path, 1, "run/unreadable", "this file cannot be read", why) for path, why in sorted(problems.items())
    )
