"""`mergeready check --fix` and `--diff` as they are typed: what is mended, shown, kept and refused."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.checks.library import DRIFTED, LIBRARY, LIST, SCALE, SHUFFLED, copy_of
from tests.checks.repositories import contents, make_repository, write
from tests.tooling.command_line import Said, mergeready, typed
from tooling.errors import Exit

RULES = ("copied-code", "doctest-list")


BODY = "src/lib/b.py:3:1: copied-code/body: `scale` differs from `lib.a.scale` [fixable]\n"


WHY = "    src/lib/a.py:2 has `return states * 2`, this has `return states + 2`\n"


def looked(subjects: int, rules: int = 2) -> str:
    return f"; {rules} rules looked at {subjects} things in 0.00 s\n"


def check(folder: Path, *arguments: str) -> Said:
    """Two rules are enough, and their reports stay short."""
    return mergeready(folder, "check", *RULES, *arguments)


DIFF = """\
--- a/src/lib/b.py
+++ b/src/lib/b.py
@@ -1,3 +1,3 @@
 # Copied from lib.a.scale
 def scale(states):
-    return states + 2
+    return states * 2
"""


def test_a_diff_shows_what_a_fix_would_do_and_writes_nothing(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    before = contents(tmp_path)

    assert check(tmp_path, "--diff") == (
        Exit.FINDINGS,
        f"{DIFF}{BODY}{WHY}1 finding (1 fixable with --fix){looked(3)}",
        "",
    )
    assert check(tmp_path, "--fix", "--diff") == check(tmp_path, "--diff")
    beside = check(tmp_path, "--diff", "--format", "json")
    assert (len(json.loads(beside.out)["findings"]), beside.err) == (1, DIFF)
    assert contents(tmp_path) == before


def test_a_fix_mends_what_it_can_names_it_and_a_second_one_changes_nothing(tmp_path: Path) -> None:
    make_repository(tmp_path, {**DRIFTED, LIST: SHUFFLED[LIST]})

    said = check(tmp_path, "--fix")

    assert (said.code, said.err) == (Exit.FINDINGS, f"fixed src/lib/b.py\nfixed {LIST}\n")
    assert said.out == (
        f"{LIST}:1:1: doctest-list/missing: 'gone.py' does not exist\n"
        "    neither a file nor a folder of this tree, from its root, has this path\n"
        f"1 finding{looked(4)}"
    )
    after = contents(tmp_path)
    assert after["src/lib/b.py"].decode() == LIBRARY["src/lib/b.py"]
    assert after[LIST] == b"gone.py\nsrc/lib/a.py\nsrc/lib/b.py\n"
    assert check(tmp_path, "--fix").err == ""
    assert contents(tmp_path) == after


def test_a_fix_keeps_windows_line_ends_the_byte_order_mark_and_the_mode(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + DRIFTED["src/lib/b.py"].replace("\n", "\r\n").encode()
    make_repository(tmp_path, DRIFTED)
    write(tmp_path, {"src/lib/b.py": content})
    (tmp_path / "src/lib/b.py").chmod(0o755)

    assert check(tmp_path, "--fix").code == Exit.DONE
    assert (tmp_path / "src/lib/b.py").read_bytes() == content.replace(b"+", b"*")
    assert (tmp_path / "src/lib/b.py").stat().st_mode & 0o777 == 0o755 or sys.platform == "win32"


def test_a_chain_of_copies_is_mended_in_one_run(tmp_path: Path) -> None:
    other = SCALE.replace("*", "+")
    names = "abcdefghijklmnopqrstuvwxyz"
    chain = {f"src/lib/{name}.py": copy_of(before, other) for before, name in pairwise(names)}
    make_repository(tmp_path, {**LIBRARY, **chain})

    mergeready(tmp_path, "check", "copied-code", "--fix")

    assert {path for path, content in contents(tmp_path).items() if b"+" in content} == set()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_fix_that_cannot_be_written_is_one_message_and_leaves_every_file(tmp_path: Path) -> None:
    make_repository(tmp_path, {**DRIFTED, LIST: SHUFFLED[LIST]})
    before = contents(tmp_path)
    (tmp_path / "utils").chmod(0o555)
    try:
        said = typed(tmp_path, "check", *RULES, "--fix", bound=True)
    finally:
        (tmp_path / "utils").chmod(0o755)

    assert said == (
        Exit.ENVIRONMENT,
        "",
        f"error: cannot write {LIST}: Permission denied\nhint: nothing was changed\n",
    )
    assert contents(tmp_path) == before


def test_a_folder_without_git_is_checked_and_fixed_too(tmp_path: Path) -> None:
    write(tmp_path, DRIFTED)

    assert check(tmp_path, "--no-git").out == f"{BODY}{WHY}1 finding (1 fixable with --fix){looked(3)}"
    assert check(tmp_path, "--no-git", "--fix").code == Exit.DONE
    assert contents(tmp_path)["src/lib/b.py"].decode() == LIBRARY["src/lib/b.py"]
