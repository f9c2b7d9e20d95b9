"""`mergeready refs-check`: at a terminal, in a pipe, and as a hook on the message of a commit."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from ruamel.yaml import YAML

from tests.tooling.commands.git_commands import bench, stable, template
from tests.tooling.git.repositories import COMMAND, Bench, write

__all__ = ["bench", "template"]


def test_each_reference_has_its_place_and_its_kind(bench: Bench) -> None:
    message = bench.root / "message"
    write(message, "Fix it (#12)\n\nThanks @octocat, CVE-2024-12345\n")

    result = bench.run("refs-check", str(message))

    assert (result.code, stable(bench, result)) == (
        1,
        """2 references
  1:8 number: (#12)
  3:8 mention: @octocat
  3:18 advisory: CVE-2024-12345
see the message without them:
    mergeready refs-check --strip ROOT/message
""",
    )
    assert bench.run("refs-check", "--strip", str(message)).out == "Fix it\n\nThanks octocat, CVE-2024-12345\n"


def test_a_stripped_message_is_told_to_programs_with_what_was_taken_out(bench: Bench) -> None:
    message = bench.root / "message"
    write(message, b"Fix it (#12)\n\nThanks @octocat, caf\xe9\n")
    clean = bench.root / "clean"
    write(clean, "Fix it\n")

    stripped = bench.run("refs-check", "--strip", "--json", str(message))
    untouched = bench.run("refs-check", "--strip", "--json", str(clean))

    assert (stripped.code, stripped.json["status"], stripped.json["summary"]) == (
        0,
        "stripped",
        "2 references taken out",
    )
    assert stripped.json["items"] == [
        {
            "message": "Fix it\n\nThanks octocat, caf\\xe9\n",
            "message_b64": "Rml4IGl0CgpUaGFua3Mgb2N0b2NhdCwgY2Fm6Qo=",
            "removed": [
                {"line": 1, "column": 8, "kind": "number", "text": "(#12)", "certain": True},
                {"line": 3, "column": 8, "kind": "mention", "text": "@octocat", "certain": True},
            ],
        }
    ]
    assert (untouched.code, untouched.json["status"], untouched.json["items"]) == (
        0,
        "clean",
        [{"message": "Fix it\n", "removed": []}],
    )


def test_a_commit_and_a_clean_message_and_what_is_not_there(bench: Bench) -> None:
    clean = bench.run("refs-check", "--commit", "HEAD")
    no_commit = bench.run("refs-check", "--commit", "nowhere")
    no_file = bench.run("refs-check", str(bench.root / "nowhere"))

    assert [(result.code, result.said) for result in (clean, no_commit)] == [
        (0, "no references"),
        (2, "there is no commit nowhere"),
    ]
    assert (no_file.code, "cannot read" in no_file.said) == (2, True)


def test_what_git_wrote_into_the_file_of_a_hook_does_not_count(bench: Bench) -> None:
    message = bench.root / "COMMIT_EDITMSG"
    write(message, "Fix it\n# On branch fix-#12\n#\n# ------------------------ >8 ------------------------\ndiff #13\n")

    assert bench.run("refs-check", str(message)).code == 0


def test_as_a_hook_it_guards_the_branches_of_a_sync_and_no_others(bench: Bench) -> None:
    manifest = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"
    hooks = YAML(typ="safe").load(manifest) if manifest.is_file() else []
    entry = next(
        (hook["entry"] for hook in hooks if hook["id"] == "mergeready-refs"), "mergeready refs-check --on 'sync*'"
    )
    program = shlex.join([*COMMAND, *shlex.split(entry)[1:]])
    bench.hook("commit-msg", f'PYTHONPATH={shlex.quote(os.pathsep.join(sys.path))} exec {program} "$1"')

    codes = []
    for branch in ("sync/upstream-2026-01-02", "other"):
        bench.git("switch", "--quiet", "--create", branch, "main")
        write(bench.work / "x.txt", branch)
        bench.git("add", "x.txt")
        before = bench.oid()
        bench.git("commit", "--quiet", "--message", "Sync (#12)", fails=True)
        codes.append(bench.oid() != before)

    assert codes == [False, True]
