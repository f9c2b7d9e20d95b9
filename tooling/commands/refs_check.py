"""Find references to issues, people and commits in a message: what would ring bells in somebody else's project.

Commits that bring a fork up to date repeat upstream's messages, and each `#123` in them writes a line into an issue
there. Reads a file, standard input (-), or the message of a commit; exit code 1 says that it found some.

Examples:
  mergeready refs-check .git/COMMIT_EDITMSG
  mergeready refs-check --commit HEAD
  git log -1 --format=%B | mergeready refs-check --strip -
  mergeready refs-check --strip --json --commit HEAD
"""

from __future__ import annotations

import fnmatch
import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.git.command import Git
from tooling.git.options import add_options
from tooling.git.outcome import Outcome
from tooling.git.plan import Next
from tooling.git.references import Reference, Style, find, lines, strip
from tooling.git.report import report
from tooling.git.text import count, shown, to_git


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready refs-check`."""
    parser.add_argument(
        "file", nargs="?", default="", metavar="FILE", help="a file with a message, or - for standard input"
    )
    parser.add_argument("--commit", metavar="REV", default="", help="look at the message of this commit")
    parser.add_argument("--strip", action="store_true", help="print the message without its references")
    parser.add_argument("--on", metavar="PATTERN", default="", help="only if the current branch fits, such as 'sync/*'")
    parser.add_argument("--strict", action="store_true", help="count ids of security advisories too")
    add_options(parser, dry_run=False)


def run(options: Namespace, console: Console) -> int:
    """Find references in a message."""
    if options.strip and not options.json:
        git = Git(".")
        style = style_of(git, strict=options.strict)
        console.data(strip(_message(options, git), style).decode("utf-8", "backslashreplace"))
        return Exit.DONE
    return report("refs-check", options, console, lambda _: _strip(options) if options.strip else _check(options))


def style_of(git: Git, *, strict: bool = False) -> Style:
    """What counts as a reference in this repository: its host and trackers are configuration."""
    host = git.line("config", "--get", "mergeready.githubHost") or "github.com"
    autolinks = git.line("config", "--get-all", "mergeready.autolink").split("\n")
    return Style(
        host=host.encode("utf-8", "surrogateescape"),
        autolinks=tuple(prefix.encode("utf-8", "surrogateescape") for prefix in autolinks if prefix),
        strict=strict,
        resolves=lambda word: git.attempt("cat-file", "-e", f"{word.decode('ascii')}^{{commit}}").status == 0,
    )


def _check(options: Namespace) -> Outcome:
    git = Git(".")
    branch = git.line("symbolic-ref", "--quiet", "--short", "HEAD")
    if options.on and not fnmatch.fnmatchcase(branch, options.on):
        return Outcome(
            "refs-check", "skipped", Exit.DONE, f"{shown(branch) or 'a detached HEAD'} is not {shown(options.on)}"
        )
    message = _message(options, git)
    found = find(message, style_of(git, strict=options.strict))
    counted = _counted(options, found)
    items = _items(message, found)
    if not counted:
        return Outcome("refs-check", "clean", Exit.DONE, "no references", items=items)
    return Outcome(
        command="refs-check",
        status="found",
        exit=Exit.FINDINGS,
        summary=count(len(counted), "reference"),
        lines=tuple(f"{item['line']}:{item['column']} {item['kind']}: {item['text']}" for item in items),
        items=items,
        next=(Next("see the message without them", ("mergeready", "refs-check", "--strip", options.file or "-")),),
    )


def _strip(options: Namespace) -> Outcome:
    """The message without its references, and what was taken out of it."""
    git = Git(".")
    message, style = _message(options, git), style_of(git, strict=options.strict)
    removed = _counted(options, find(message, style))
    item = {**_exact(strip(message, style)), "removed": list(_items(message, removed))}
    summary = f"{count(len(removed), 'reference')} taken out" if removed else "no references"
    return Outcome("refs-check", "stripped" if removed else "clean", Exit.DONE, summary, items=(item,))


def _exact(message: bytes) -> dict[str, str]:
    """A message for JSON: as text, and as base64 of its bytes too where they are not UTF-8."""
    try:
        return {"message": message.decode("utf-8")}
    except UnicodeDecodeError:
        import base64

        exact = base64.b64encode(message).decode("ascii")
        return {"message": message.decode("utf-8", "backslashreplace"), "message_b64": exact}


def _counted(options: Namespace, found: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """Those that count: ids of advisories do only where that was asked for."""
    return tuple(reference for reference in found if reference.kind != "advisory" or options.strict)


def _items(message: bytes, found: tuple[Reference, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "line": line,
            "column": column,
            "kind": reference.kind,
            "text": _text(reference.text),
            "certain": reference.certain,
        }
        for line, column, reference in lines(message, found)
    )


def _message(options: Namespace, git: Git) -> bytes:
    if options.commit and options.file:
        raise UserError("a file and --commit are two messages: choose one")
    if options.commit:
        oid = git.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{options.commit}^{{commit}}")
        if not oid:
            raise UserError(f"there is no commit {shown(options.commit)}")
        return git.ask("cat-file", "commit", oid).partition(b"\n\n")[2]
    if options.file in ("", "-"):
        return sys.stdin.buffer.read()
    try:
        return _without_comments(Path(options.file).read_bytes(), git)
    except OSError as error:
        raise UserError(
            f"cannot read {shown(options.file)}: {error.strerror}", hint="name a file, or - for standard input"
        ) from error


def _without_comments(message: bytes, git: Git) -> bytes:
    """A message without what git cuts off: a hook sees the file before that. Comments begin as the user has it."""
    *chosen, _ = git.line("config", "--get-all", "core.commentChar").split("\n")  # the last one is our own pin
    mark = re.escape(to_git("".join(word for word in chosen[-1:] if word != "auto") or "#"))
    kept = re.split(rb"^%s -+ >8 -+$" % mark, message, maxsplit=1, flags=re.MULTILINE)[0]
    return re.sub(rb"^%s(?:[ \t].*)?(?:\r?\n|\Z)" % mark, b"", kept, flags=re.MULTILINE)


def _text(content: bytes) -> str:
    return shown(content.decode("utf-8", "surrogateescape"))
