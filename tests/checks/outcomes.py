"""Outcomes to report, ordinary and hostile."""

from __future__ import annotations

from hypothesis import strategies as st

from checks.baseline import Acceptance
from checks.engine import Verdict
from checks.model import Edit, Finding
from checks.profiles import build
from checks.run import Outcome
from checks.settings import Settings

SETTINGS = Settings(build("generic", {}))
FIXABLE = Finding(
    "src/lib/b.py",
    7,
    "copied-code/body",
    "the copy differs from lib.a.f",
    "line 3 says + 2 and should say + 1",
    column=5,
    edits=(Edit("src/lib/b.py", 7, 7, "    return x + 1\n"), Edit("src/lib/new.py", 1, 0, "x = 1\n")),
    source=("src/lib/a.py", 3),
)
PLAIN = Finding("docs/ä ö:%,.yml", 2, "doc-toc/missing", "100% wrong:\r, no?")
SILENCED = Finding("a.py", 1, "copied-code/body", "silenced")
ACCEPTED = Finding("c.py", 3, "copied-code/signature", "accepted", accepted="-a\n+b\n")
OUTCOME = Outcome(
    SETTINGS,
    verdicts=(
        Verdict("copied-code", 12345, (FIXABLE, SILENCED, ACCEPTED), 1.25),
        Verdict("doc-toc", 1, (PLAIN,), 0.5, cached=True),
        Verdict("lazy-inits", 0, (), 0.0004),
    ),
    findings=(PLAIN, FIXABLE),
    silenced=(SILENCED,),
    accepted=(ACCEPTED,),
    stale=(Acceptance("copied-code/body", "gone.py", "gone", "0"),),
    notes=("lazy-inits looked at nothing here",),
    seconds=1.756,
)
CLEAN = Outcome(SETTINGS, (Verdict("doc-toc", 1, (), 0.1),), (), seconds=0.1)

HOSTILE = st.text(
    st.sampled_from("a/:,%\\`*_[]<>|\"' \n\r\t\0\x1b\x07\x7f\x85\x9b\u200f\u202e\u2028\u2066\udc80\udcff\ufeffé🤗"),
    min_size=1,
    max_size=12,
)


def finding(path: str, line: int, message: str, reason: str, text: str) -> Finding:
    edit = Edit(path, line, line, text)
    return Finding(path, line, "copied-code/body", message, reason, edits=(edit,), accepted=text, source=(path, line))


FINDINGS = st.lists(st.builds(finding, HOSTILE, st.integers(1, 9), HOSTILE, HOSTILE, HOSTILE), max_size=3).map(tuple)
