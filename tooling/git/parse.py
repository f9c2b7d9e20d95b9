"""From what plumbing prints to values; pure. Each format ends its records with NUL, or is one that git documents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tooling.git.state import BACKUPS, HEADS, REMOTES, SYNCS, Change, Commit, Head, Remote, Worktree
from tooling.git.text import from_git

REF_FORMAT = "%(objectname) %(refname) %(symref)"
COMMIT_FORMAT = "%H%x00%P%x00%an <%ae>%x00%at%x00%B%x00%x00"
QUESTIONS = (
    (
        *("rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--is-shallow-repository"),
        *("--absolute-git-dir", "--git-common-dir", "--show-toplevel"),
    ),
    ("for-each-ref", f"--format={REF_FORMAT}", HEADS, REMOTES, BACKUPS, SYNCS, "refs/tags/"),
    ("config", "--list", "-z"),
)
"""What to ask about a repository beside `git status`."""
_VERSION = re.compile(r"(\d+)\.(\d+)")


def version(output: bytes) -> tuple[int, int]:
    """Major and minor version of git; vendors append words of their own.

    >>> version(b"git version 2.39.5 (Apple Git-154)")
    (2, 39)
    """
    found = _VERSION.search(output.decode("ascii", "replace"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def records(output: bytes) -> list[str]:
    r"""The records of a `-z` output.

    >>> records(b"a\0b\nc\0")
    ['a', 'b\nc']
    """
    return [from_git(record) for record in output.split(b"\0") if record]


def status(output: bytes) -> tuple[Head, tuple[Change, ...]]:
    """HEAD and the changes of `git status --porcelain=v2 --branch --no-renames -z`."""
    oid = ref = ""
    changes = []
    for record in records(output):
        kind, _, rest = record.partition(" ")
        if record.startswith("# branch.oid "):
            oid = record.removeprefix("# branch.oid ").replace("(initial)", "")
        elif record.startswith("# branch.head "):
            name = record.removeprefix("# branch.head ")
            ref = "" if name == "(detached)" else f"refs/heads/{name}"
        elif kind == "?":
            changes.append(Change(rest, "??"))
        elif kind in ("1", "u"):
            fields = rest.split(" ", 7 if kind == "1" else 9)
            changes.append(Change(fields[-1], fields[0], fields[1]))
    return Head(oid, ref), tuple(changes)


def refs(output: bytes) -> tuple[dict[str, str], dict[str, str]]:
    r"""Object ids by full ref name, and what symbolic refs stand for, from `for-each-ref` with REF_FORMAT.

    >>> refs(b"11 refs/heads/main \n11 refs/remotes/up/HEAD refs/remotes/up/main\n")
    ({'refs/heads/main': '11', 'refs/remotes/up/HEAD': '11'}, {'refs/remotes/up/HEAD': 'refs/remotes/up/main'})
    """
    lines = [from_git(line).split(" ") for line in output.split(b"\n") if line]
    return {name: oid for oid, name, _ in lines}, {name: target for _, name, target in lines if target}


def advertised(output: bytes) -> tuple[dict[str, str], str]:
    r"""Object ids by ref name, and the ref that HEAD stands for, from `git ls-remote --symref`.

    >>> advertised(b"ref: refs/heads/main\tHEAD\nabc\tHEAD\nabc\trefs/heads/main\n")
    ({'HEAD': 'abc', 'refs/heads/main': 'abc'}, 'refs/heads/main')
    """
    found, head = {}, ""
    for line in from_git(output).split("\n"):
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            head = value.removeprefix("ref: ")
        elif name:
            found[name] = value
    return found, head


def config(output: bytes) -> dict[str, tuple[str, ...]]:
    r"""All values by key, from `git config --list -z`.

    >>> config(b"core.bare\nfalse\0flag\0")
    {'core.bare': ('false',), 'flag': ('true',)}
    """
    values: dict[str, tuple[str, ...]] = {}
    for record in records(output):
        key, equals, value = record.partition("\n")
        values[key] = (*values.get(key, ()), value if equals else "true")
    return values


def remotes(settings: dict[str, tuple[str, ...]]) -> tuple[Remote, ...]:
    """The remotes that a configuration names and gives a URL, in its order."""
    found = []
    for key, values in settings.items():
        if key.startswith("remote.") and key.endswith(".url"):
            name = key[len("remote.") : -len(".url")]
            promisor = settings.get(f"remote.{name}.promisor", ("false",))[-1].lower() in ("true", "yes", "on", "1")
            found.append(Remote(name, _instead(values[0], settings), promisor, _pushes(name, values, settings)))
    return tuple(found)


def _pushes(name: str, urls: tuple[str, ...], settings: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """All that a push goes to: the addresses that are only for that, or each that there is for both."""
    if own := settings.get(f"remote.{name}.pushurl"):
        return tuple(_instead(url, settings) for url in own)
    pushed = ((_instead(url, settings, "pushinsteadof"), url) for url in urls)
    return tuple(new if new != url else _instead(url, settings) for new, url in pushed)


def worktrees(output: bytes, end: str = "\n") -> tuple[Worktree, ...]:
    """The worktrees of `git worktree list --porcelain`, bare ones left out; `end` is what ends a line there."""
    found = []
    for block in from_git(output).split(end * 2):
        fields = dict(line.partition(" ")[::2] for line in block.split(end) if line)
        if "worktree" in fields and "bare" not in fields:
            found.append(Worktree(fields["worktree"], fields.get("HEAD", ""), fields.get("branch", "")))
    return tuple(found)


def commits(output: bytes) -> tuple[Commit, ...]:
    """The commits of `git log --format=<COMMIT_FORMAT>`."""
    return tuple(_commits(output))


def _commits(output: bytes) -> Iterator[Commit]:
    for record in output.split(b"\0\0\n"):
        if record:
            oid, parents, author, date, message = from_git(record).split("\0", 4)
            yield Commit(oid, author, date, message.rstrip("\n\0"), tuple(parents.split()))


def _instead(url: str, settings: dict[str, tuple[str, ...]], kind: str = "insteadof") -> str:
    """The URL that git uses for this one: the longest `url.<base>.insteadOf` wins."""
    best = ("", "")
    for key, prefixes in settings.items():
        if key.startswith("url.") and key.endswith(f".{kind}"):
            fitting = [prefix for prefix in prefixes if url.startswith(prefix)]
            best = max([best, *((prefix, key[len("url.") : -len(f".{kind}")]) for prefix in fitting)], key=_length)
    return best[1] + url[len(best[0]) :]


def _length(pair: tuple[str, str]) -> int:
    return len(pair[0])
