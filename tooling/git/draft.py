"""Plan a squashed sync: one commit on a branch of its own whose words quote nothing from upstream and refer to nobody.

It is for forks whose main branch takes pull requests only. The text is made from a template; the search for references
only proves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tooling.git.names import file_system
from tooling.git.plan import Move, Next, Plan, RefusedError, Step
from tooling.git.push import push_step
from tooling.git.references import Style, find, lines, strip
from tooling.git.state import HEADS, REMOTES, SYNCS, Repo
from tooling.git.sync import Syncing
from tooling.git.text import count, shown


class Draft(NamedTuple):
    """A squashed sync that is to be made. All of it is text, so that the journal can hold it."""

    id: str
    fork: str
    old: str
    """The fork's tip, which becomes the parent."""
    new: str
    """Upstream's tip, whose contents come in."""
    branch: str
    message: str
    title: str
    """Of the pull request."""
    body: str
    push: str = ""
    """Not empty where the branch is to be pushed."""

    @property
    def ref(self) -> str:
        """The full name of the branch."""
        return HEADS + self.branch


class Asked(NamedTuple):
    """What the user wants the commit to say, and whether it is pushed."""

    message: str = ""
    strip: bool = False
    push: bool = False


def write_draft(repo: Repo, syncing: Syncing, asked: Asked, style: Style, *, now: str, today: str) -> Draft:
    """A squashed sync with words that refer to nothing; RefusedError where the user's own words do."""
    title = f"Bring {syncing.fork_main} up to date with upstream, {today}"
    body = f"{count(syncing.missing, 'commit')} of upstream in one."
    draft = Draft(
        id=now,
        fork=syncing.fork,
        old=syncing.old,
        new=syncing.new,
        branch=_free_branch(repo, f"sync/upstream-{today}"),
        message=_own_words(asked, style) or f"{title}\n\n{body}\n",
        title=title,
        body=body,
        push="push" if asked.push else "",
    )
    for words in (draft.branch, draft.message, title, body):
        if not words.strip() or any(found.kind != "advisory" for found in find(_bytes(words), style)):
            raise RefusedError("references", f"this text is empty or refers to something: {shown(words)}")
    return draft


def plan_squash(draft: Draft, commit: str, record: str) -> Plan:
    """Put a squashed commit on its branch, remember what it brought, and push it where that was asked for."""
    memory = f"{SYNCS}{draft.fork}/{draft.id}"
    moves = (Move(draft.ref, "", commit), Move(memory, "", record))
    return Plan(
        command="sync",
        summary=f"{draft.title}: one commit on {shown(draft.branch)}",
        steps=tuple(_steps(draft, commit, memory, record)),
        moves=moves,
        onto=draft.new,
    )


def _steps(draft: Draft, commit: str, memory: str, record: str) -> Iterator[Step]:
    nothing = "0" * len(commit)
    yield Step("move", ("update-ref", draft.ref, commit, nothing), f"make the branch {shown(draft.branch)}")
    yield Step("move", ("update-ref", memory, record), "remember what it brought, for the next sync")
    if draft.push:
        yield push_step(draft.fork, draft.ref, "")


def _own_words(asked: Asked, style: Style) -> str:
    message = _bytes(asked.message)
    found = find(message, style)
    if found and not asked.strip:
        spans = (
            f"{line}:{column} {reference.kind}: {shown(reference.text.decode('utf-8', 'surrogateescape'))}"
            for line, column, reference in lines(message, found)
        )
        raise RefusedError(
            "references",
            "the message refers to issues, people or commits",
            details=spans,
            next=[Next("take them out", ("mergeready", "sync", "--via-pr", "--strip", "-m", asked.message))],
        )
    return strip(message, style).decode("utf-8", "surrogateescape")


def _free_branch(repo: Repo, wanted: str) -> str:
    """A branch name that is free here and, as far as is known, on every remote, also as a folder of names."""
    taken = {name.removeprefix(HEADS) for name in repo.refs if name.startswith(HEADS)}
    taken |= {name.removeprefix(REMOTES).partition("/")[2] for name in repo.refs if name.startswith(REMOTES)}
    same = file_system(repo).same
    # `Sync/x` would take a branch into its own folder where case makes no difference.
    folders = {other.partition("/")[0] for other in taken} - {"sync"}
    if "sync" in taken or "sync" in map(same, folders):
        wanted = wanted.replace("/", "-")
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if not any(other == name or other.startswith(f"{name}/") for other in taken))


def _bytes(words: str) -> bytes:
    return words.encode("utf-8", "surrogateescape")
