r"""Files that git calls changed although they are what was committed: the attributes ask for other line ends.

No checkout, stash or reset makes them clean. While a rebase runs, git can be told to take them as they are, by lines in
`info/attributes`. All worktrees read that file, so the lines say whose they are, and go as soon as that run has ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tooling.git import journal, parse
from tooling.git.blob import id_of
from tooling.git.command import Git
from tooling.git.journal import Entry
from tooling.git.state import Repo
from tooling.git.text import to_git

_BLOCK = re.compile(
    rb"\n# mergeready begins (?P<id>\S+)(?P<new> here)?: line ends as they are.*?\n# mergeready ends (?P=id)\n",
    re.DOTALL,
)


def only_line_ends(repo: Repo, git: Git) -> tuple[str, ...]:
    """The edited files whose bytes are those that were committed, line ends of Windows among them."""
    modified = {change.path for change in repo.edits if change.code == ".M"}
    found = []
    for record in parse.records(git.ask("ls-files", "--stage", "-z")) if modified else []:
        head, _, path = record.partition("\t")
        if path in modified and _is_committed(Path(repo.root, path), head.split(" ")[1]):
            found.append(path)
    return tuple(found)


def take_as_they_are(repo: Repo, git: Git, entry: Entry, paths: Sequence[str]) -> None:
    """Have git take these files as they are until the entry has ended; doing it again changes nothing."""
    place = _place(repo)
    content = place.read_bytes() if place.is_file() else None
    if any(found["id"] == entry.id.encode() for found in _BLOCK.finditer(content or b"")):
        return
    here = b" here" if content is None else b""
    lines = b"".join(b"%s -text\n" % pattern(path) for path in paths)
    name = entry.id.encode()
    block = b"\n# mergeready begins %s%s: line ends as they are\n%s# mergeready ends %s\n" % (name, here, lines, name)
    _write(place, (content or b"") + block)
    git.attempt("update-index", "-q", "--refresh")


def let_go(repo: Repo) -> None:
    """Take out the lines of runs that have ended, also of those that were killed; what others wrote there stays."""
    place = _place(repo)
    if not place.is_file():
        return
    content = place.read_bytes()
    blocks = list(_BLOCK.finditer(content))
    wanted = {entry.id.encode() for entry in journal.all_open(repo)} if blocks else set()
    gone = [found for found in blocks if found["id"] not in wanted]
    for found in reversed(gone):
        content = content[: found.start()] + content[found.end() :]
    if gone and not content and any(found["new"] for found in gone):
        place.unlink()
    elif gone:
        _write(place, content)


def pattern(path: str) -> bytes:
    r"""The line of an attributes file that means exactly this path.

    >>> pattern("a [1].txt")
    b'"/a \\\\[1].txt"'
    """
    escaped = re.sub(rb"([*?\[\\])", rb"\\\1", b"/" + to_git(path))
    if re.fullmatch(rb"[!-~]+", escaped) and b'"' not in escaped:
        return escaped
    return b'"' + b"".join(_quoted(byte) for byte in escaped) + b'"'


def _quoted(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\" + bytes([byte])
    return bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte


def _is_committed(path: Path, oid: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    content = path.read_bytes()
    return b"\r\n" in content and id_of(content, len(oid)) == oid


def _place(repo: Repo) -> Path:
    return Path(repo.common_dir, "info", "attributes")


def _write(place: Path, content: bytes) -> None:
    """Write the file so that it is there whole or as it was, with the rights that it had."""
    place.parent.mkdir(exist_ok=True)
    draft = place.with_name("attributes.mergeready")
    draft.write_bytes(content)
    if place.is_file():
        draft.chmod(place.stat().st_mode & 0o777)
    draft.replace(place)
