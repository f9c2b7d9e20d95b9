"""What is not committed yet: put away before a rebase, put back after it, and given back byte for byte.

Git's own autostash re-applies with the index flattened, leaves a stash of its own in the user's list where that
conflicts, and says that all is well. So the files are copied as they are (no filter touches them), and a stash commit
that is in no list holds the same content for git to merge.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from tooling.errors import Exit, UserError
from tooling.git import parse
from tooling.git.command import Git, text
from tooling.git.folders import below_a_file, drop_if_empty, files_on_the_way
from tooling.git.journal import Edit, Entry, place_of
from tooling.git.plan import Next, RefusedError
from tooling.git.state import Change, Repo
from tooling.git.text import several, shown, to_git


def make_stash(git: Git, changes: Sequence[Change]) -> str:
    """The id of a stash commit of all edits, in no list; nothing where there are none."""
    if not changes:
        return ""
    done = git.attempt("stash", "create", "mergeready: edits put away")
    if done.status or not done.out:
        raise RefusedError(
            "cannot-put-away",
            f"git cannot stash these edits: {text(done.err).partition(chr(10))[0] or 'it sees no change in them'}",
            details=several([change.path for change in changes]),
            next=[Next("commit them for the while", ("git", "commit", "-a"))],
        )
    return text(done.out)


def copy(repo: Repo, git: Git, changes: Sequence[Change], place: Path) -> tuple[Edit, ...]:
    """Copy the files of these changes to a folder, and note their index entries."""
    staged: dict[str, list[str]] = {change.path: [] for change in changes}
    for record in parse.records(git.ask("ls-files", "--stage", "-z")) if staged else []:
        line, _, path = record.partition("\t")
        if path in staged:
            staged[path].append(line)
    return tuple(Edit(path, tuple(lines), _copy(Path(repo.root, path), place / path)) for path, lines in staged.items())


def kept_files(repo: Repo, entry: Entry) -> Path:
    """Where the copies of an entry's edits are."""
    return Path(place_of(repo, entry.id), "files")


def put_away(git: Git, edits: Sequence[Edit]) -> None:
    """Make index and working tree equal to HEAD for these paths, all of which have been copied.

    What HEAD does not have goes first: it may stand where HEAD has a folder, or below one of its files.
    """
    held = set(parse.records(git.ask("ls-tree", "-r", "--name-only", "-z", "HEAD"))) if edits else set()
    command = ("restore", "--source=HEAD", "--staged", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
    for is_held in (False, True):
        if paths := "\0".join(edit.path for edit in edits if (edit.path in held) is is_held):
            git.ask("--literal-pathspecs", *command, stdin=to_git(paths))


def put_back(repo: Repo, git: Git, entry: Entry, head: str) -> str:
    """Put edits back on a new HEAD: as they were where HEAD has the file that they were made on, merged elsewhere.

    A merge that conflicts leaves unmerged paths, as git does; look for them afterwards. Returns git's words where it
    would not merge at all.
    """
    refusal = ""
    paths = [edit.path for edit in entry.edits]
    touched = changed_paths(git, entry.old, head, paths)
    if touched:
        done = git.attempt("stash", "apply", "--quiet", "--index", entry.stash)
        if done.status and not unmerged(git):
            done = git.attempt("stash", "apply", "--quiet", entry.stash)
        if done.status and not unmerged(git):
            refusal = text(done.err).partition("\n")[0] or "git would not apply them"
    write(repo, git, [edit for edit in entry.edits if edit.path not in touched], kept_files(repo, entry))
    return refusal


def write(repo: Repo, git: Git, edits: Sequence[Edit], place: Path) -> None:
    """Make files and index entries what they were when they were copied."""
    if not edits:
        return
    for edit in edits:
        remove(repo, edit.path)
    for edit in edits:
        if edit.kept:
            _check_free(repo, edit.path)
            if not _copy(place / edit.path, Path(repo.root, edit.path)):
                raise UserError(f"the copy {shown(str(place / edit.path))} is gone", exit=Exit.ENVIRONMENT)
    # Width of the ids decides the width of the zeros that remove a path.
    zeros = "0" * len(repo.head.oid)
    lines = [f"0 {zeros}\t{edit.path}" for edit in edits]
    lines += [f"{line}\t{edit.path}" for edit in edits for line in edit.staged]
    git.ask("update-index", "-z", "--index-info", stdin=to_git("".join(f"{line}\0" for line in lines)))
    git.attempt("update-index", "-q", "--refresh")


def write_anew(git: Git, moved: Collection[str], changed: Collection[str] = ()) -> None:
    """Write files again that git calls changed although they are not among those that were `changed` before.

    Where attributes are among what has `moved`, others hold now than when these files were written, and git leaves
    them as they are.
    """
    if any(path.rpartition("/")[2] == ".gitattributes" for path in moved):
        git.attempt("update-index", "-q", "--refresh")
        again = set(parse.records(git.ask("diff-files", "--name-only", "-z"))).difference(changed)
        git.ask("checkout-index", "--force", "-z", "--stdin", stdin=to_git("".join(f"{path}\0" for path in again)))


def changed_paths(git: Git, old: str, new: str, paths: Sequence[str]) -> set[str]:
    """Those of the paths that differ between two commits."""
    if old == new:
        return set()
    differing = set(parse.records(git.ask("diff-tree", "-r", "--name-only", "-z", "--no-renames", old, new)))
    return differing.intersection(paths)


def unmerged(git: Git) -> tuple[str, ...]:
    """The paths in conflict."""
    listed = parse.records(git.ask("ls-files", "--unmerged", "-z"))
    return tuple(dict.fromkeys(record.partition("\t")[2] for record in listed))


def _copy(source: Path, target: Path) -> bool:
    """Copy a file or a symbolic link with its mode; False where there is neither (a folder is a submodule's)."""
    if not source.is_symlink() and not source.is_file():
        return False
    import shutil

    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
    return True


def remove(repo: Repo, path: str) -> None:
    """Remove a file or a symbolic link of the working tree; a folder stays, and so does what a link leads to."""
    place = Path(repo.root, path)
    if not below_a_file(repo.root, os.path.dirname(path)) and (place.is_symlink() or place.is_file()):
        place.unlink()


def _check_free(repo: Repo, path: str) -> None:
    """Refuse to put a file where a folder with files in it stands, or below what is no folder."""
    drop_if_empty(os.path.join(repo.root, path))
    if found := files_on_the_way(repo.root, path):
        raise UserError(
            f"{shown(found[0])} is where your edit of {shown(path)} belongs",
            hint="move it away, then see where things stand with: mergeready status",
            exit=Exit.STOPPED,
        )
