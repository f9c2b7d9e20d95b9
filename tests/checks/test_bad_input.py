"""Whatever is wrong with a file: one message or finding, the right exit code, and nothing damaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.checks.library import DRIFTED, LIBRARY, SCALE, copy_of
from tests.checks.repositories import contents, make_repository, write
from tests.tooling.command_line import Said, mergeready
from tooling.errors import Exit

BODY = "src/lib/b.py:3:1: copied-code/body: "


def check(folder: Path, *arguments: str) -> Said:
    said = mergeready(folder, "check", *arguments)
    assert "Traceback" not in said.err
    return said


def survives(tmp_path: Path, odd: Mapping[str, str | bytes]) -> list[str]:
    """The findings about odd files, by path and code; what is found elsewhere is found all the same.

    A fix mends that, leaves the odd files as they are, byte for byte, and has nothing to do a second time.
    """
    make_repository(tmp_path, {**DRIFTED, **odd})
    before = contents(tmp_path)
    said = check(tmp_path)
    assert (said.code, said.err) == (Exit.FINDINGS, "")
    assert BODY in said.out
    check(tmp_path, "--fix")
    after = contents(tmp_path)
    assert after["src/lib/b.py"].decode() == LIBRARY["src/lib/b.py"]
    assert {path: after[path] for path in odd} == {path: before[path] for path in odd}
    assert check(tmp_path, "--fix").err == ""
    assert contents(tmp_path) == after
    lines = [line.split(":") for line in said.out.splitlines() if line.startswith(tuple(odd))]
    return [f"{path}:{code.strip()}" for path, _, _, code, *_ in lines]


def test_files_that_do_not_parse(tmp_path: Path) -> None:
    broken = {
        "src/lib/c.py": "def (:\n",
        "src/lib/d.py": "'''never closed\n",
        "src/lib/e.py": "if x:\n\tpass\n        pass\n",
        "src/lib/sub/__init__.py": "_import_structure = {\n",
        "src/lib/f.py": copy_of("c", "def scale(states):\n    return (\n"),
        "docs/source/_toctree.yml": "- local: [\n",
        "setup.py": "_deps = [\n",
        "src/lib/dependency_versions_table.py": "deps = {}\n",
    }

    assert survives(tmp_path, broken) == [
        "docs/source/_toctree.yml:doc-toc/unparsable",
        "setup.py:dependency-table/unparsable",
        "src/lib/f.py:copied-code/target",
        "src/lib/sub/__init__.py:lazy-inits/unparsable",
    ]


def test_a_nul_byte(tmp_path: Path) -> None:
    odd = {
        "src/lib/c.py": b"x = 1\0\n",
        "src/lib/sub/__init__.py": b"_import_structure = {}\0\n",
        "docs/source/_toctree.yml": b"- local: a\0\n",
        "utils/odd_doctest.txt": b"a\0b\n",
    }

    assert survives(tmp_path, odd) == [
        "docs/source/_toctree.yml:doc-toc/unparsable",
        "src/lib/sub/__init__.py:lazy-inits/unparsable",
        "utils/odd_doctest.txt:doctest-list/missing",
    ]


def test_another_encoding(tmp_path: Path) -> None:
    latin = "# coding: latin-1\n# é\n".encode("latin-1")
    odd = {
        "src/lib/c.py": latin + copy_of("a").encode(),
        "src/lib/undeclared.py": "# é\n".encode("latin-1") + copy_of("a").encode(),
        "src/lib/wide.py": copy_of("a").encode("utf-16"),
        "src/lib/unknown.py": b"# coding: martian\n" + copy_of("a").encode(),
        "src/lib/escaped.py": b"# coding: unicode_escape\n" + copy_of("a").encode(),
        "docs/source/a.md": "# é\n".encode("latin-1"),
    }

    assert survives(tmp_path, odd) == []


def test_a_copy_in_another_encoding_is_mended_in_that_encoding(tmp_path: Path) -> None:
    code = "# coding: latin-1\n# é\n" + copy_of("a", SCALE.replace("*", "+"))
    make_repository(tmp_path, {**LIBRARY, "src/lib/c.py": code.encode("latin-1")})

    assert check(tmp_path, "--fix").err == "fixed src/lib/c.py\n"
    assert contents(tmp_path)["src/lib/c.py"] == code.replace("+", "*").encode("latin-1")


def test_a_text_that_the_encoding_of_the_copy_cannot_hold_is_not_written(tmp_path: Path) -> None:
    source = {"src/lib/a.py": "def scale(states):\n    return '日本'\n"}
    copy = b"# coding: latin-1\n" + copy_of("a").encode()
    make_repository(tmp_path, {**LIBRARY, **source, "src/lib/c.py": copy})

    said = check(tmp_path, "--fix")

    assert said.err == (
        "not fixed: src/lib/c.py: its encoding, latin-1, cannot hold the new text\nfixed src/lib/b.py\n"
    )
    assert contents(tmp_path)["src/lib/c.py"] == copy


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_of_all_systems(tmp_path: Path, end: str, mark: bytes) -> None:
    files = {path: mark + text.replace("\n", end).encode() for path, text in DRIFTED.items() if text}
    make_repository(tmp_path, {**files, "src/lib/__init__.py": ""})

    assert BODY in check(tmp_path).out
    assert check(tmp_path, "--fix").err == "fixed src/lib/b.py\n"
    assert contents(tmp_path)["src/lib/b.py"] == files["src/lib/b.py"].replace(b"+", b"*")


def test_mixed_line_ends(tmp_path: Path) -> None:
    drifted = b"# Copied from lib.a.scale\r\ndef scale(states):\n    return states + 2\r\n\rx = 1\n"
    make_repository(tmp_path, {**LIBRARY, "src/lib/c.py": drifted})

    assert check(tmp_path, "--fix").err == "fixed src/lib/c.py\n"
    # Most lines end in LF, and so does the new one; all others end as they did.
    assert contents(tmp_path)["src/lib/c.py"] == drifted.replace(b"+ 2\r\n", b"* 2\n")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/lib/c.py", b"x = '" + b"a" * 20_000_000 + b"'\n"),
        ("src/lib/c.py", b"x = " + b"(" * 20_000_000 + b"\n"),
        ("src/lib/c.py", b" " * 20_000_000 + b"\n"),
        ("src/lib/sub/__init__.py", b"_import_structure = {'a': [" + b"'b', " * 4_000_000 + b"]}\n"),
        ("src/lib/models/auto/a.py", b"X_MAPPING = {" + b"'b': 1, " * 2_500_000 + b"}\n"),
        ("docs/source/_toctree.yml", b"- local: " + b"a" * 20_000_000 + b"\n"),
        ("docs/source/a.md", b"<!-- " * 4_000_000 + b"\n"),
    ],
    ids=["string", "brackets", "spaces", "init", "mapping", "contents", "page"],
)
def test_a_line_of_twenty_megabytes(tmp_path: Path, path: str, line: bytes) -> None:
    make_repository(tmp_path, DRIFTED)
    write(tmp_path, {path: line})

    said = check(tmp_path, "--jobs", "1")

    assert (said.code, said.err) == (Exit.FINDINGS, "")
    assert BODY in said.out
    assert max(map(len, said.out.splitlines())) < 2000


def test_settings_of_twenty_megabytes(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    write(tmp_path, {"mergeready.toml": b"exclude = ['" + b"a" * 20_000_000 + b"']\n"})

    assert check(tmp_path) == (
        Exit.USAGE,
        "",
        "error: mergeready.toml is not valid TOML: longer than 1000000 characters\n",
    )
