"""Write the draft of a pull request from the repository's template, and open what the draft says."""

from __future__ import annotations

from checks import git
from tooling.errors import Exit, UserError
from tooling.pr.body import fill, find_template
from tooling.pr.diff import NoHistory
from tooling.pr.draft import Draft, draft_path, read_draft, write_draft
from tooling.pr.judge import Checklist
from tooling.pr.opening import find_target, open_argv, open_pull
from tooling.pr.pull import PullRequest


def write_body(repository: git.Repository, pull: PullRequest, checklist: Checklist) -> str:
    """Fill the template into a draft; return its path. UserError (refused) where there is a draft, or no branch."""
    path = _path(repository, pull)
    write_draft(path, _filled(pull, checklist))
    return path


def open_draft(repository: git.Repository, pull: PullRequest, checklist: Checklist, *, base: str = "") -> str:
    """Open what the options, the draft or the filled template say; return the address of the pull request.

    UserError where it has no title, is not pushed, or `gh` does not open it.
    """
    draft = read_draft(_path(repository, pull)) or _filled(pull, checklist)
    request = pull.request
    draft = Draft(request.title or draft.title, draft.body if request.body is None else request.body)
    if not draft.title:
        raise UserError("it has no title", hint="give it with --title, or write it into the draft: --write-body")
    target = find_target(repository, request.head_ref, base=base)
    return open_pull(open_argv(target, draft, unfinished=checklist.unfinished), draft.body)


def _path(repository: git.Repository, pull: PullRequest) -> str:
    if not pull.request.head_ref:
        hint = "git switch --create NAME"
        raise UserError("HEAD is on no branch, so there is nothing to open", hint=hint, exit=Exit.REFUSED)
    return draft_path(repository, pull.request.head_ref)


def _filled(pull: PullRequest, checklist: Checklist) -> Draft:
    """A draft from the repository's template, as it is at the base."""
    if isinstance(pull.branch, NoHistory):
        raise UserError(pull.branch.why, hint=pull.branch.mend, exit=Exit.REFUSED)
    path = find_template(pull.paths)
    content = pull.objects.read(f"{pull.changed.base_tip}:{path}") if path else None
    template = (content or b"").decode("utf-8", "replace")
    title = pull.request.title or (pull.changed.commits[0].subject if pull.changed.commits else "")
    return Draft(title, fill(template, pull, checklist))
