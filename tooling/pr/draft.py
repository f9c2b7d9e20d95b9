"""The draft of a pull request: title and description of a branch, kept in the git folder until it is opened.

It is text as git knows it from commit messages: the title, an empty line, the description.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from checks import git
from tooling.errors import Exit, UserError


class Draft(NamedTuple):
    """What will be written on a pull request."""

    title: str
    body: str


def draft_path(repository: git.Repository, branch: str) -> str:
    """Where the draft of a branch is kept, whatever its name holds."""
    name = branch.replace("%", "%25").replace("/", "%2F")
    return os.path.join(repository.common_dir, "mergeready", "drafts", f"{name}.md")


def read_draft(path: str) -> Draft | None:
    """The draft in a file, None where there is none; UserError where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            title, _, body = file.read().partition("\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"cannot read the draft {path}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
    return Draft(title.strip(), body.lstrip("\n"))


def write_draft(path: str, draft: Draft) -> None:
    """Write a new draft; UserError (refused) where one is there, which somebody may have edited."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(f"{draft.title}\n\n{draft.body}")
    except FileExistsError as error:
        hint = "edit it, or delete it to have a new one written"
        raise UserError(f"there is a draft already: {path}", hint=hint, exit=Exit.REFUSED) from error
    except OSError as error:
        raise UserError(f"cannot write the draft {path}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
