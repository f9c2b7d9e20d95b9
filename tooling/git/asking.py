"""Ask git about the repository around a folder, and go on before it has answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from tooling.git.command import Git, Question

_FILES = ("status", "--porcelain=v2", "--branch", "--no-renames", "--untracked-files=normal", "-z")


class Asked(NamedTuple):
    """Questions to git about the repository around a folder, the answers still to come."""

    start: str
    questions: Mapping[str, Question]

    def output(self, name: str) -> bytes:
        """What the git command of this name printed; UserError where it failed."""
        return self.questions[name].answer()


@contextmanager
def asking(start: str = ".") -> Iterator[Asked]:
    """Ask git all there is to ask but its version; none of it outlives the block."""
    git = Git(start)
    questions: dict[str, Question] = {}
    try:
        # To look at every file takes longest, so even what the answers are parsed with is imported meanwhile.
        questions["status"] = git.start(*_FILES)
        from tooling.git.parse import QUESTIONS

        for arguments in QUESTIONS:
            questions[arguments[0]] = git.start(*arguments)
        yield Asked(start, questions)
    finally:
        for question in questions.values():
            question.close()
