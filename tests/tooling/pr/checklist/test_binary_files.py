from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tooling.pr.branches import Branch, brief

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib")


def test_an_image_is_told_by_its_content_whatever_its_name(branch: Branch) -> None:
    branch.commit("Add a note", {"docs/note.txt": PNG, "docs/text.png": "only text\n"})

    assert brief(branch.decide("binary-files")) == (
        "fail",
        "binary-files/binary",
        ("docs/note.txt:0 PNG image, 208 bytes",),
    )


def test_s35_attributes_neither_hide_binary_data_nor_make_it_up(branch: Branch) -> None:
    branch.commit(
        "Add data",
        {
            ".gitattributes": "*.dat diff\nlock.json -diff\n",
            "big.dat": b"\0" * 2_000_000,
            "lock.json": '{"a": 1}\n',
        },
    )

    assert brief(branch.decide("binary-files")) == (
        "fail",
        "binary-files/binary",
        ("big.dat:0 binary data, 2,000,000 bytes",),
    )


def test_what_a_later_commit_deletes_is_in_the_history_all_the_same(branch: Branch) -> None:
    branch.commit("Add a picture", {"a.png": PNG})
    branch.commit("Take it out again", {"a.png": None})

    assert brief(branch.decide("binary-files")) == (
        "warn",
        "binary-files/deleted",
        ("a.png:0 PNG image, 208 bytes",),
    )


def test_a_rename_and_a_change_of_mode_bring_nothing_new(tmp_path: Path) -> None:
    branch = Branch(tmp_path / "lib", {"old.png": PNG, "run.bin": PNG + b"x"})
    branch.git("mv", "old.png", "new.png")
    branch.git("update-index", "--chmod=+x", "run.bin")
    branch.git("commit", "--quiet", "--message", "Move things")

    assert branch.decide("binary-files").code == "binary-files/text"


def test_a_picture_that_came_with_a_merge_of_the_base_is_not_the_branch_s(branch: Branch) -> None:
    branch.commit("Edit", {"a.txt": "a\n"})
    branch.git("switch", "--quiet", "main")
    branch.commit("Add a picture to the trunk", {"trunk.png": PNG})
    branch.git("switch", "--quiet", "work")
    branch.git("merge", "--quiet", "--no-edit", "main")

    assert branch.decide("binary-files").code == "binary-files/text"


def test_a_picture_that_slips_in_while_merging_is_the_branch_s(branch: Branch) -> None:
    branch.commit("Edit", {"a.txt": "a\n"})
    branch.git("switch", "--quiet", "main")
    branch.commit("Go on", {"b.txt": "b\n"})
    branch.git("switch", "--quiet", "work")
    branch.git("merge", "--quiet", "--no-commit", "main")
    branch.commit("Merge", {"evil.png": PNG})

    assert brief(branch.decide("binary-files")) == (
        "fail",
        "binary-files/binary",
        ("evil.png:0 PNG image, 208 bytes",),
    )


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"


def test_a_pointer_is_welcome_where_an_attribute_asks_for_one_and_content_is_not(branch: Branch) -> None:
    branch.commit("Add attributes", {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    branch.commit("Add a pointer", {"a.bin": POINTER})
    assert branch.decide("binary-files").code == "binary-files/text"

    branch.commit("Add content", {"b.bin": b"\0\1"})
    assert brief(branch.decide("binary-files")) == (
        "fail",
        "binary-files/unwrapped",
        ("b.bin:0 content instead of a Git LFS pointer, 2 bytes",),
    )


def test_utf_16_latin_1_and_large_texts_are_told_apart(branch: Branch) -> None:
    branch.commit("Add UTF-16", {"a.txt": "hello".encode("utf-16")})
    branch.commit("Add Latin-1", {"b.txt": "Grüße".encode("latin-1")})
    branch.commit("Add declared Latin-1", {"c.py": "# -*- coding: latin-1 -*-\n# Grüße\n".encode("latin-1")})
    branch.commit("Add a large text", {"d.json": "1\n" * 250_001})

    assert brief(branch.decide("binary-files")) == (
        "fail",
        "binary-files/binary",
        (
            "a.txt:0 text in UTF-16, which git shows and merges as binary, 12 bytes",
            "b.txt:0 text that is not UTF-8, 5 bytes",
        ),
    )
    branch.commit("Take them out", {"a.txt": None, "b.txt": None})
    assert brief(branch.decide("binary-files")) == ("fail", "binary-files/large", ("d.json:0 text, 500,002 bytes",))


def test_a_repository_can_allow_small_files_in_a_folder(branch: Branch) -> None:
    settings = '[tool.mergeready.pr.binary-files]\nallowed = ["tests/data/*"]\nsmall = 208\n'
    branch.commit("Allow", {"pyproject.toml": settings, "tests/data/a.png": PNG})

    assert branch.decide("binary-files").code == "binary-files/text"


def test_a_name_that_is_no_text_does_not_hide_a_file(branch: Branch) -> None:
    # No file system has to allow such a name: git does.
    name = b"caf\xe9\n.png"
    blob = branch.feed(PNG, "hash-object", "-w", "--stdin").decode()
    tree = branch.feed(b"100644 blob %s\t%s\0" % (blob.encode(), name), "mktree", "-z").decode()
    branch.git("update-ref", "HEAD", branch.git("commit-tree", "-m", "Add", "-p", "HEAD", tree))

    decision = branch.decide("binary-files")

    assert (decision.code, [row.path for row in decision.evidence]) == ("binary-files/binary", [os.fsdecode(name)])
