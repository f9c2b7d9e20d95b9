"""Real repositories for the checklist: a library with a trunk, and a branch on it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from checks import git
from tooling.pr.event import Request
from tooling.pr.judge import Checklist, judge
from tooling.pr.model import Decision
from tooling.pr.objects import GitObjects
from tooling.pr.read import local_request, read_pull

LIBRARY = {
    "src/lib/__init__.py": "",
    "src/lib/scale.py": 'def scale(states, factor):\n    """Scale the states."""\n    return states * factor\n',
    "tests/test_scale.py": "from lib.scale import scale\n\n\ndef test_scale():\n    assert scale(2, 3) == 6\n",
}


class Branch:
    """A checkout of a library whose trunk is `main`, with a branch `work` that has no commit of its own yet."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes] = LIBRARY) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet")
        self.commit("Add the library", files)
        self.git("switch", "--quiet", "--create", "work")

    def commit(self, message: str, files: Mapping[str, str | bytes | None]) -> str:
        """Write files, delete those that are None, commit all; return the id."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        """What git prints; the test fails where it does."""
        done = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def feed(self, content: bytes, *words: str) -> bytes:
        """What git prints of bytes on its standard input, without the last line end."""
        done = subprocess.run(["git", *words], cwd=self.folder, input=content, capture_output=True, check=True)
        return done.stdout.removesuffix(b"\n")

    def judge(self, request: Request | None = None, *, base: str = "") -> Checklist:
        """The checklist of the branch, or of what an event is about."""
        repository = git.find_repository(str(self.folder))
        with closing(GitObjects(repository.root)) as objects:
            return judge(read_pull(repository, request or local_request(repository), objects, base=base))

    def decide(self, item: str, request: Request | None = None, *, base: str = "") -> Decision:
        """What one item says."""
        (found,) = (each for each in self.judge(request, base=base).decisions if each.item == item)
        return found


def brief(decision: Decision) -> tuple[str, str, tuple[str, ...]]:
    """Verdict, code, and each piece of evidence as `path:line text`, for one comparison."""
    rows = (f"{row.path}:{row.line} {row.text}" if row.path else row.text for row in decision.evidence)
    return decision.verdict.value, decision.code, tuple(rows)
