"""What a change is: the commit it started from, the files it touches, and the findings it caused.

A finding belongs to the change if its file does, or if the base does not have it: a source changed and a copy in
another file did not. So the base is judged too, from facts that are cached by content.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from checks import git
from checks.errors import CheckError
from checks.model import Finding
from checks.run import Outcome
from checks.tree import Tree
from checks.trunks import TRUNKS


def find_base(root: str, asked: str = "") -> str:
    """The commit id that HEAD's changes started from: the merge base with `asked`, or with the trunk.

    Without `asked` the trunk is the base branch of a pull request in CI, else the default branch of the remote
    `upstream` or `origin`; no local branch is needed. CheckError says what is missing.
    """
    tips = _asked(asked) if asked else (*_from_ci(root), *TRUNKS, "refs/heads/main", "refs/heads/master")
    for tip in tips:
        if commit := _commit(root, tip):
            return _merge_base(root, commit, tip)
    if asked:
        raise _missing(asked)
    hint = "name it with --base REF, or: git fetch origin"
    if _is_shallow(root):
        hint = (
            "this clone is shallow; in GitHub Actions check out with fetch-depth: 0, elsewhere: git fetch --unshallow"
        )
    message = "nothing tells where this change started: no remote branch, no main, no master"
    raise CheckError(message, hint=hint, environment=True)


def newest_base(root: str, asked: str = "") -> str:
    """The commit id at the tip of the branch that HEAD is to be merged into."""
    for tip in _asked(asked) if asked else (*_from_ci(root), *TRUNKS):
        if commit := _commit(root, tip):
            return commit
    if asked:
        raise _missing(asked)
    raise CheckError("there is no remote branch to merge into", hint="name one with --base REF", environment=True)


def merged_tree(root: str, base: str) -> tuple[str, tuple[str, ...]]:
    """The id of the tree that merging HEAD into a commit gives, and the paths in conflict; needs git 2.38."""
    status, output, errors = git.attempt(
        root, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, "HEAD"
    )
    if status not in (0, 1):
        said = errors.decode("utf-8", "replace").strip().partition("\n")[0]
        raise CheckError(f"git cannot try the merge: {said}", hint="it takes git 2.38 or newer", environment=True)
    tree, *names = output.split(b"\0")
    return tree.decode("ascii").strip(), tuple(dict.fromkeys(os.fsdecode(name) for name in names if name))


def changed_paths(base: Tree, present: Tree) -> frozenset[str]:
    """Files that were added, edited or deleted since the base: staged or not, tracked or not."""
    before, after = base.keys, present.keys
    return frozenset(path for path in {*before, *after} if before.get(path) != after.get(path))


def only_caused(outcome: Outcome, at_base: Sequence[Finding], base: Tree, present: Tree) -> Outcome:
    """The outcome without what was found before the change and lies in files that it does not touch.

    What the base let pass was not found there: a change that takes an acceptance away causes the finding.
    """
    return outcome._replace(findings=caused(outcome.findings, at_base, changed_paths(base, present)))


def caused(findings: Sequence[Finding], at_base: Iterable[Finding], changed: frozenset[str]) -> tuple[Finding, ...]:
    """The findings that lie in changed files or that the base did not have."""
    before = Counter(map(_identity, at_base))
    kept = []
    for found in findings:
        known = before[_identity(found)] > 0
        before[_identity(found)] -= 1
        if found.path in changed or not known:
            kept.append(found)
    return tuple(kept)


def _identity(found: Finding) -> tuple[str, str, str, str]:
    return found.path, found.code, found.message, found.accepted


def _from_ci(root: str) -> tuple[str, ...]:
    branch = os.environ.get("GITHUB_BASE_REF", "")
    if not branch:
        return ()
    # Actions check out the merge of the pull request: its first parent is the base, even in a clone of depth 2.
    # A workflow may check out the branch instead, whose tip may be a merge too.
    merged = _commit(root, "HEAD^2") and os.environ.get("GITHUB_SHA", "") in ("", _commit(root, "HEAD"))
    return (*(("HEAD^1",) if merged else ()), f"refs/remotes/origin/{branch}")


def _asked(name: str) -> tuple[str, ...]:
    """What a user may mean by a name: `main` is the remote's where there is no local one."""
    return (name, f"refs/remotes/upstream/{name}", f"refs/remotes/origin/{name}")


def _missing(asked: str) -> CheckError:
    return CheckError(f"there is no commit {asked!r} here", hint="fetch it, or see: git branch --all")


def _is_shallow(root: str) -> bool:
    return git.ask(root, "rev-parse", "--is-shallow-repository").strip() == b"true"


def _commit(root: str, name: str) -> str:
    status, output, _ = git.attempt(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return output.decode("ascii").strip() if status == 0 else ""


def _merge_base(root: str, commit: str, name: str) -> str:
    if not _commit(root, "HEAD"):
        raise CheckError("there is no commit yet to compare with", environment=True)
    status, output, _ = git.attempt(root, "merge-base", "HEAD", commit)
    if status == 0:
        return output.decode("ascii").strip()
    shallow = _is_shallow(root)
    hint = "deepen it: git fetch --deepen=200 (or --unshallow)" if shallow else "name another with --base REF"
    kind = "this shallow clone lacks the history it shares" if shallow else "HEAD shares no history"
    raise CheckError(f"{kind} with {name}", hint=hint, environment=True)
