"""The bench: upstream, a fork of it and a clone of the fork, all real, and a picture of everything in a repository."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tooling.cli import main
from tooling.git import parse

LINES = [f"line {number}" for number in range(1, 21)]
OPERATIONS = (
    "rebase-merge",
    "rebase-apply",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "SQUASH_MSG",
)


class Result(NamedTuple):
    """How a run of `mergeready` ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """The first line of what it said, wherever it said it."""
        return (self.out or self.err).partition("\n")[0].removeprefix("error: ")

    @property
    def json(self) -> dict[str, Any]:
        """What `--json` printed."""
        found: dict[str, Any] = json.loads(self.out)
        return found


class Bench(NamedTuple):
    """`up.git` and `fork.git` are bare; `work` is the contributor's clone, on `feature`; `other` is somebody's."""

    root: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def other(self) -> Path:
        return self.root / "other"

    def git(self, *arguments: str, at: Path | None = None, fails: bool = False, stdin: bytes = b"") -> str:
        """Run git in `work`, or elsewhere; its output without the last line end."""
        done = subprocess.run(
            ["git", *arguments], cwd=at or self.work, capture_output=True, input=stdin, check=False, timeout=60
        )
        assert fails or done.returncode == 0, (arguments, done.stdout, done.stderr)
        return os.fsdecode(done.stdout).removesuffix("\n")

    def oid(self, revision: str = "HEAD", at: Path | None = None) -> str:
        return self.git("rev-parse", "--verify", "--quiet", revision, at=at, fails=True)

    def commit(self, message: str, files: dict[str, str | bytes | None], at: Path | None = None) -> str:
        """Write files (None removes one), commit them; the commit's id."""
        place = at or self.work
        for name, content in files.items():
            path = place / name
            if content is None:
                path.unlink()
            else:
                write(path, content)
        self.git("add", "--all", "--", *files, at=place)
        self.git("commit", "--quiet", "--message", message, at=place)
        return self.oid(at=place)

    def upstream(self, message: str, files: dict[str, str | bytes | None], branch: str = "main") -> str:
        """Somebody commits to upstream."""
        self.git("fetch", "--quiet", "origin", at=self.other)
        self.git("switch", "--quiet", "--detach", f"refs/remotes/origin/{branch}", at=self.other)
        oid = self.commit(message, files, at=self.other)
        self.git("push", "--quiet", "origin", f"HEAD:refs/heads/{branch}", at=self.other)
        return oid

    def reviewer(self, message: str, files: dict[str, str | bytes | None], branch: str = "feature") -> str:
        """Somebody else commits to a branch of the fork."""
        fork = str(self.root / "fork.git")
        self.git("fetch", "--quiet", fork, f"refs/heads/{branch}", at=self.other)
        self.git("switch", "--quiet", "--detach", "FETCH_HEAD", at=self.other)
        oid = self.commit(message, files, at=self.other)
        self.git("push", "--quiet", fork, f"HEAD:refs/heads/{branch}", at=self.other)
        return oid

    def at_fork(self, ref: str = "refs/heads/feature") -> str:
        return self.oid(ref, at=self.root / "fork.git")

    def url(self, repository: str) -> str:
        """The address of a bare repository, as if it were far away."""
        return (self.root / repository).as_uri()

    def refs(self, repository: str) -> str:
        return self.git("for-each-ref", at=self.root / repository)

    def run(self, *argv: str, at: Path | None = None) -> Result:
        """Run `mergeready` in this process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(at or self.work), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(argv)
        return Result(code, out.getvalue(), err.getvalue())

    def spawn(self, *argv: str, at: Path | None = None, env: dict[str, str] | None = None, **options: Any) -> Result:
        """Run `mergeready` in a process of its own, without a terminal."""
        done = subprocess.run(
            COMMAND + list(argv),
            cwd=at or self.work,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=120,
            **options,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def hook(self, name: str, script: str, at: Path | None = None) -> None:
        """Install a hook, in `work` or in a bare repository."""
        path = (at or self.work / ".git") / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)


COMMAND = [sys.executable, "-c", "import sys; from tooling.cli import main; sys.exit(main())"]


def build(root: Path) -> Bench:
    """A fresh bench: `feature` has two commits, is pushed to the fork, and upstream is one harmless commit ahead."""
    bench = Bench(root)
    for name in ("up.git", "fork.git"):
        bench.git("init", "--quiet", "--bare", "--initial-branch=main", str(root / name), at=root)
    bench.git("clone", "--quiet", str(root / "up.git"), str(bench.other), at=root)
    bench.git("switch", "--quiet", "--create", "main", at=bench.other, fails=True)
    files = {"a.txt": text(), "b.txt": text(), "folder/c.txt": text(), ".gitignore": "*.ignored\n"}
    bench.commit("Begin", dict(files), at=bench.other)
    bench.git("push", "--quiet", "origin", "main", at=bench.other)
    bench.git("push", "--quiet", str(root / "fork.git"), "main", at=bench.other)
    bench.git("clone", "--quiet", str(root / "fork.git"), str(bench.work), at=root)
    bench.git("remote", "add", "upstream", str(root / "up.git"))
    bench.git("switch", "--quiet", "--create", "feature")
    bench.commit("Change line 3 of a", {"a.txt": text({3: "mine"})})
    bench.commit("Change line 10 of b", {"b.txt": text({10: "mine"})})
    bench.git("push", "--quiet", "--set-upstream", "origin", "feature")
    bench.upstream("Add d", {"d.txt": "new\n"})
    return bench


def copy_of(template: Path, root: Path) -> Bench:
    """A bench like the template, elsewhere."""
    shutil.copytree(template, root, symlinks=True, dirs_exist_ok=True)
    bench = Bench(root)
    for place, remote, target in (
        ("work", "origin", "fork.git"),
        ("work", "upstream", "up.git"),
        ("other", "origin", "up.git"),
    ):
        bench.git("config", f"remote.{remote}.url", str(root / target), at=root / place)
    bench.git("update-index", "-q", "--refresh")
    return bench


def git_version() -> tuple[int, int]:
    """Major and minor version of the git that the tests run with."""
    return parse.version(subprocess.run(["git", "version"], capture_output=True, check=True).stdout)


def text(changed: dict[int, str] | None = None) -> str:
    """Twenty lines, some of them changed."""
    lines = [(changed or {}).get(number, line) for number, line in enumerate(LINES, 1)]
    return "".join(f"{line}\n" for line in lines)


def write(path: Path, content: str | bytes) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def snapshot(bench: Bench, at: Path | None = None, *, ours: bool = True) -> dict[str, Any]:
    """Everything in a repository that somebody could lose; what a fetch of upstream moves is left out.

    `ours` tells whether the refs count that we keep for ourselves.
    """
    place = at or bench.work
    git_dir = Path(bench.git("rev-parse", "--absolute-git-dir", at=place))
    hidden = ("refs/remotes/upstream/",) if ours else ("refs/remotes/", "refs/mergeready/")
    refs = [
        line for line in bench.git("for-each-ref", at=place).split("\n") if not line.split("\t")[-1].startswith(hidden)
    ]
    return {
        "head": (git_dir / "HEAD").read_text(encoding="utf-8"),
        "refs": refs,
        "index": bench.git("ls-files", "--stage", "-v", "-z", at=place),
        "status": bench.git("status", "--porcelain", "-z", at=place),
        "files": dict(_files(place)),
        "stashes": bench.git("stash", "list", "--format=%H %gs", at=place),
        "operations": [name for name in OPERATIONS if (git_dir / name).exists()],
        "worktrees": bench.git("worktree", "list", "--porcelain", at=place).count("worktree "),
    }


def _files(place: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Kind and contents of every file, untracked and ignored ones too."""
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != ".git"]
        for name in sorted(names):
            path = Path(folder, name)
            if name == ".git":
                continue
            if path.is_symlink():
                yield path.relative_to(place).as_posix(), ("link", str(path.readlink()))
            else:
                kind = "program" if os.access(path, os.X_OK) else "file"
                yield path.relative_to(place).as_posix(), (kind, hashlib.sha256(path.read_bytes()).hexdigest())
