"""Which findings stand: those that nobody lets pass, by a comment, in the baseline or in the settings.

A rule asks where one finding depends on whether another will be mended: a copy is what its original stays or becomes.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from checks import baseline, suppress
from checks.index import Index
from checks.model import Finding
from checks.settings import Settings


def stands(index: Index, found: Finding) -> bool:
    """Whether a finding of a rule is one to be mended."""
    if is_excluded(found.path, index.settings):
        return False
    if any(comment.covers(found) for comment in suppress.of_file(index, found.path)):
        return False
    return baseline.acceptance(found) not in index.facts(baseline.ACCEPTED, index.settings.baseline)


def is_excluded(path: str, settings: Settings) -> bool:
    """Whether the settings say that nothing is reported in a file."""
    return any(fnmatchcase(path, pattern) for pattern in settings.exclude)
