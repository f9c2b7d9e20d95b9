"""From verdicts to an outcome: what is silenced, accepted, excluded, too little or unreadable."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from checks.baseline import acceptance, render
from checks.cache import Cache
from checks.errors import CheckError
from checks.fix import fix
from checks.model import Finding
from checks.run import Judge, Outcome, codes
from checks.settings import RULE_NAMES
from checks.suppress import CODES as SUPPRESSION_CODES
from checks.tree import MemoryTree
from tests.checks.library import DRIFTED, LIBRARY, LIST, SCALE, SHUFFLED, copy_of
from tests.checks.trees import says, tree_of

BODY = "src/lib/b.py:3 copied-code/body"


def outcome_of(files: Mapping[str, str], *rules: str) -> Outcome:
    return Judge(Cache(None), lambda _: rules or ("copied-code", "doctest-list"))(tree_of(files))


def lists(outcome: Outcome) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Findings that stay, are silenced, are accepted."""
    return says(outcome.findings), says(outcome.silenced), says(outcome.accepted)


def baseline_of(files: Mapping[str, str]) -> dict[str, str]:
    """A baseline that accepts what is found in a tree."""
    return {".mergeready-baseline.json": render(map(acceptance, outcome_of(files).findings))}


def test_a_clean_tree_has_no_findings_and_says_how_much_was_looked_at() -> None:
    outcome = outcome_of(LIBRARY)

    assert lists(outcome) == ((), (), ())
    assert [(v.rule, v.subjects, v.cached) for v in outcome.verdicts] == [
        ("copied-code", 1, False),
        ("doctest-list", 2, False),
    ]
    assert outcome.notes == ()


def test_a_rule_that_saw_nothing_says_so() -> None:
    assert outcome_of(LIBRARY, "doc-toc", "doctest-list").notes == ("doc-toc looked at nothing here",)


def test_findings_of_all_rules_are_in_order_of_path_and_line() -> None:
    assert says(outcome_of({**DRIFTED, LIST: SHUFFLED[LIST]}).findings) == (
        BODY,
        f"{LIST}:2 doctest-list/order",
        f"{LIST}:3 doctest-list/missing",
    )


def test_a_comment_silences_a_finding_and_one_that_silences_nothing_is_a_finding() -> None:
    skipped = {**DRIFTED, "src/lib/b.py": f"# mergeready: skip[copied-code] ours\n{DRIFTED['src/lib/b.py']}"}
    needless = {**LIBRARY, "src/lib/b.py": f"# mergeready: skip[copied-code] ours\n{LIBRARY['src/lib/b.py']}"}

    assert lists(outcome_of(skipped)) == ((), ("src/lib/b.py:4 copied-code/body",), ())
    assert lists(outcome_of(needless)) == (("src/lib/b.py:1 suppression/unused",), (), ())
    assert lists(outcome_of(needless, "doctest-list")) == ((), (), ())


@pytest.mark.parametrize("name", [*codes(), *RULE_NAMES])
def test_a_comment_may_name_any_rule_and_any_code(name: str) -> None:
    outcome = outcome_of({"a.py": f"# mergeready: skip[{name}] why\n"}, *RULE_NAMES)

    assert "suppression/unknown" not in {found.code for found in outcome.findings}


def test_the_baseline_accepts_a_divergence_until_it_grows() -> None:
    accepted = {**DRIFTED, **baseline_of(DRIFTED)}
    moved = {**accepted, "src/lib/b.py": f'"""Docs."""\n\n{DRIFTED["src/lib/b.py"]}'}
    grown = {**accepted, "src/lib/b.py": DRIFTED["src/lib/b.py"].replace("+ 2", "+ 3")}
    mended = {**accepted, "src/lib/b.py": LIBRARY["src/lib/b.py"]}

    assert lists(outcome_of(accepted)) == ((), (), (BODY,))
    assert lists(outcome_of(moved)) == ((), (), ("src/lib/b.py:5 copied-code/body",))
    assert lists(outcome_of(grown)) == ((BODY,), (), ())
    assert [row.path for row in outcome_of(grown).stale] == ["src/lib/b.py"]
    assert lists(outcome_of(mended)) == ((), (), ())
    assert [row.path for row in outcome_of(mended).stale] == ["src/lib/b.py"]


def test_an_acceptance_of_a_rule_that_did_not_run_is_not_stale() -> None:
    assert outcome_of({**LIBRARY, **baseline_of(DRIFTED)}, "doctest-list").stale == ()


def test_the_baseline_may_lie_elsewhere() -> None:
    (text,) = baseline_of(DRIFTED).values()
    files = {**DRIFTED, "ci/accepted.json": text, "mergeready.toml": 'baseline = "ci/accepted.json"\n'}

    assert lists(outcome_of(files)) == ((), (), (BODY,))


OTHER = SCALE.replace("*", "+")
PASSES = {
    "by a comment": {"src/lib/b.py": f"# mergeready: skip[copied-code] ours\n{copy_of('a', OTHER)}"},
    "by the baseline": baseline_of(DRIFTED),
    "by the settings": {"mergeready.toml": 'exclude = ["src/lib/b.py"]\n'},
}


def bodies(files: Mapping[str, str]) -> list[str]:
    return [line.partition(" ")[0] for line in says(outcome_of(files).findings) if line.endswith("/body")]


@pytest.mark.parametrize("way", PASSES)
def test_a_copy_of_what_is_let_pass_is_held_against_that_and_not_against_what_a_fix_would_make_of_it(way: str) -> None:
    chain = {**DRIFTED, "src/lib/c.py": copy_of("b", OTHER)}
    assert bodies(chain) == ["src/lib/b.py:3", "src/lib/c.py:3"]

    assert bodies({**chain, **PASSES[way]}) == []
    for code in (SCALE, SCALE.replace("*", "-")):
        assert mended({**chain, **PASSES[way], "src/lib/c.py": copy_of("b", code)}) == {
            "src/lib/c.py": copy_of("b", OTHER)
        }


def mended(files: Mapping[str, str]) -> dict[str, str]:
    """The files that a fix of copies changes."""
    judge = Judge(Cache(None), lambda _: ("copied-code",))
    fixed = fix(tree_of(files), lambda present: judge(present).findings)
    return {change.path: (change.after or b"").decode() for change in fixed.changes}


def test_nothing_is_reported_in_files_that_the_settings_exclude() -> None:
    both = {**DRIFTED, "src/lib/z.py": "# mergeready: skip[copied-code]\n"}
    for pattern, left in (("src/lib/[bz].py", ()), ("*", ()), ("src/lib/b.py", ("unused", "no-reason"))):
        findings = outcome_of({**both, "mergeready.toml": f'exclude = ["{pattern}"]\n'}).findings
        assert {found.code for found in findings} == {f"suppression/{what}" for what in left}


def test_a_rule_that_sees_less_than_it_must_is_a_finding() -> None:
    minimum = "[minimum]\ncopied-code = 2\ndoctest-list = 2\n"
    outcome = outcome_of({**LIBRARY, "mergeready.toml": minimum})

    assert outcome.findings == (
        Finding("mergeready.toml", 1, "run/too-few", "copied-code must look at 2 subjects at least", "it saw 1"),
    )
    assert outcome_of({**LIBRARY, "mergeready.toml": minimum}, "doctest-list").findings == ()


def test_a_file_that_cannot_be_read_is_a_finding_and_stops_nothing() -> None:
    class Closed(MemoryTree):
        def read(self, path: str) -> bytes:
            if path == "src/lib/a.py":
                raise PermissionError(13, "Permission denied", path)
            return super().read(path)

    tree = Closed({path: text.encode() for path, text in DRIFTED.items()})
    outcome = Judge(Cache(None), lambda _: ("copied-code", "doctest-list"))(tree)

    assert (
        Finding("src/lib/a.py", 1, "run/unreadable", "this file cannot be read", "Permission denied")
        in outcome.findings
    )
    assert [verdict.subjects for verdict in outcome.verdicts] == [1, 2]


def test_settings_and_a_baseline_that_are_wrong_stop_the_run() -> None:
    for files, message in (
        ({"mergeready.toml": "skp = []"}, "mergeready.toml: the top level has no 'skp'"),
        ({".mergeready-baseline.json": "{"}, ".mergeready-baseline.json is not a baseline of schema 1"),
    ):
        with pytest.raises(CheckError) as caught:
            outcome_of({**LIBRARY, **files})
        assert str(caught.value) == message


def test_every_rule_that_begins_is_heard_of() -> None:
    heard: list[str] = []
    Judge(Cache(None), lambda _: ("doc-toc", "copied-code"))(tree_of(LIBRARY), heard.append)

    assert heard == ["doc-toc", "copied-code"]


def test_codes_are_those_of_the_rules_of_suppressions_and_of_the_run() -> None:
    known = codes()

    assert [code for code in known if code.startswith("run/")] == ["run/too-few", "run/conflict", "run/unreadable"]
    assert {f"suppression/{what}" for what in SUPPRESSION_CODES} <= known.keys()
    assert {code.partition("/")[0] for code in known} == {*RULE_NAMES, "suppression", "run"}
    assert [text for text in known.values() if not (text[0].isupper() and text.endswith("."))] == []
    assert json.loads(json.dumps(known)) == known
