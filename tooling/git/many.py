"""A rebase of very many commits: mostly a branch that was cut from the wrong place, so somebody is asked first."""

from __future__ import annotations

from tooling.git.plan import Next, RefusedError
from tooling.git.replay import Replay
from tooling.git.state import Repo
from tooling.git.text import count, several, short, shown

KEY = "mergeready.askAbove"
_MOST = 200


def limit(repo: Repo) -> int:
    """How many commits are replayed without asking."""
    chosen = repo.setting(KEY.lower())
    return int(chosen) if chosen.isdecimal() else _MOST


def question(repo: Repo, replay: Replay) -> str:
    """What to ask before this rebase, nothing where it is of a common size."""
    own = len(replay.commits) - len(replay.merges)
    if own <= limit(repo):
        return ""
    authors = count(len({commit.author for commit in replay.commits}), "author")
    return f"This replays {count(own, 'commit')} of {repo.head.branch}, by {authors}."


def too_many(repo: Repo, replay: Replay) -> RefusedError:
    """The refusal where nobody can be asked; it shows where the commits begin and end, and how to go ahead."""
    ends = (replay.commits[0], replay.commits[-1])
    return RefusedError(
        "many-commits",
        f"{shown(question(repo, replay))[:-1]}; above {limit(repo)} somebody has to say that it is meant",
        details=several([f"{short(commit.oid)} {commit.subject} ({commit.author})" for commit in ends]),
        next=[
            Next("look at them", ("git", "log", "--oneline", f"{replay.base}..{replay.tip}")),
            Next("if they are all yours", ("mergeready", "rebase", "--yes")),
            Next("or change from how many on to ask", ("git", "config", KEY, "NUMBER")),
        ],
    )
