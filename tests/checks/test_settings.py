"""Settings: where they come from, and one message for each way to get them wrong."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.cache import Cache
from checks.errors import CheckError
from checks.profiles import build
from checks.settings import Settings, read_settings
from checks.store import Store
from checks.tree import MemoryTree


def settings_of(files: Mapping[str, str | bytes]) -> Settings:
    contents = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    return read_settings(Store(MemoryTree(contents), Cache(None), 1))


def refused(files: Mapping[str, str | bytes]) -> tuple[str, str, bool]:
    with pytest.raises(CheckError) as caught:
        settings_of(files)
    return str(caught.value), caught.value.hint, caught.value.environment


ALL = """
profile = "diffusers"
packages = { lib = "src/lib" }
select = ["doc-toc"]
skip = ["doctest-list"]
exclude = ["vendored/*"]
baseline = "ci/baseline.json"
minimum = { doc-toc = 3 }
layout.formatter = "none"
pr.skip = []
[rules.doctest-list]
sorted = false
"""
EXPECTED = Settings(
    profile=build("diffusers", {"lib": "src/lib"})._replace(formatter="none"),
    select=("doc-toc",),
    skip=("doctest-list",),
    exclude=("vendored/*",),
    baseline="ci/baseline.json",
    minimum={"doc-toc": 3},
    options={"doctest-list": {"sorted": False}},
)


def in_pyproject(text: str) -> str:
    return f"[tool.mergeready]\n{text}".replace("[rules.", "[tool.mergeready.rules.")


def test_settings_are_read_from_either_file_and_mean_the_same() -> None:
    assert settings_of({"mergeready.toml": ALL}) == EXPECTED._replace(source="mergeready.toml")
    assert settings_of({"pyproject.toml": in_pyproject(ALL)}) == EXPECTED._replace(source="pyproject.toml")


def test_mergeready_toml_goes_before_pyproject_toml_even_if_it_says_nothing() -> None:
    pyproject = '[tool.mergeready]\nskip = ["doc-toc"]\n'

    assert settings_of({"mergeready.toml": "# nothing\n", "pyproject.toml": pyproject}).skip == ()
    assert settings_of({"pyproject.toml": pyproject}).skip == ("doc-toc",)


@pytest.mark.parametrize(
    "files", [{}, {"pyproject.toml": ""}, {"pyproject.toml": "[tool.black]\n"}, {"pyproject.toml": "tool = 3\n"}]
)
def test_without_settings_everything_has_its_default(files: Mapping[str, str]) -> None:
    assert settings_of(files) == Settings(build("generic", {}))


def test_a_rule_s_own_setting_has_the_value_given_or_its_default() -> None:
    settings = settings_of({"mergeready.toml": ALL})

    assert (settings.option("doctest-list", "sorted", "unset"), settings.option("doc-toc", "x", 5)) == (False, 5)


def test_settings_that_differ_have_digests_that_differ() -> None:
    texts = ["", 'skip = ["doc-toc"]', 'select = ["doc-toc"]', "minimum.doc-toc = 1", "layout.dummies_sorted = true"]
    digests = {settings_of({"mergeready.toml": text or "# none"}).digest() for text in texts}

    assert len(digests) == len(texts)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('selct = ["doc-toc"]', "has no 'selct'", "did you mean 'select'?"),
        (
            "zzzzz = 1",
            "has no 'zzzzz'",
            "known: profile, packages, layout, select, skip, exclude, baseline, minimum, rules, pr",
        ),
        ('select = ["doc-tok"]', ".select has no 'doc-tok'", "did you mean 'doc-toc'?"),
        ('skip = ["doc_toc"]', ".skip has no 'doc_toc'", "did you mean 'doc-toc'?"),
        ("select = 'doc-toc'", ".select must be a list, not 'doc-toc'", ""),
        ("select = [1]", ".select must be a string, not 1", ""),
        ("exclude = {}", ".exclude must be a list, not {}", ""),
        ("baseline = true", ".baseline must be a string, not True", ""),
        ("minimum = 3", ".minimum must be a table, not 3", ""),
        ("minimum.doc-toc = true", ".minimum.doc-toc must be a whole number, not True", ""),
        ("minimum.doc-tok = 1", ".minimum has no 'doc-tok'", "did you mean 'doc-toc'?"),
        ('profile = "difusers"', ".profile has no 'difusers'", "did you mean 'diffusers'?"),
        (
            "profile = 3",
            ".profile has no '3'",
            "known: transformers-4, transformers-5, diffusers, optimum, generic",
        ),
        ("packages = ['a']", ".packages must be a table, not ['a']", ""),
        ("packages.a = 1", ".packages.a must be a string, not 1", ""),
        ("layout.formater = 'black'", ".layout has no 'formater'", "did you mean 'formatter'?"),
        ("layout.dummies_sorted = 'yes'", ".layout.dummies_sorted must be true or false, not 'yes'", ""),
        ("layout.tocs = [1]", ".layout.tocs must be a string, not 1", ""),
        ("layout.tocs_sorted = 'a'", ".layout.tocs_sorted must be a list, not 'a'", ""),
        ("rules.doctst-list = {}", ".rules has no 'doctst-list'", "did you mean 'doctest-list'?"),
        ("rules.doctest-list = 1", ".rules.doctest-list must be a table, not 1", ""),
        ("rules.doctest-list.sortd = true", ".rules.doctest-list has no 'sortd'", "did you mean 'sorted'?"),
        ("rules.doctest-list.sorted = 1", ".rules.doctest-list.sorted must be true or false, not 1", ""),
        ("select = 2026-01-01", ".select must be a list, not '2026-01-01'", ""),
        ('baseline = "../b.json"', ".baseline must be a path inside of the checkout, not '../b.json'", ""),
        ('baseline = "/b.json"', ".baseline must be a path inside of the checkout, not '/b.json'", ""),
        ('baseline = ".GIT/b"', ".baseline must be a path inside of the checkout, not '.GIT/b'", ""),
        ("baseline = 'C:\\b'", ".baseline must be a path inside of the checkout, not 'C:\\\\b'", ""),
        ('baseline = ""', ".baseline must be a path inside of the checkout, not ''", ""),
    ],
)
def test_a_wrong_setting_is_told_with_its_file_its_key_and_the_nearest_right_one(
    text: str, message: str, hint: str
) -> None:
    start = f"tool.mergeready{message}" if message.startswith(".") else f"tool.mergeready {message}"
    short = message.removeprefix(".") if message.startswith(".") else f"the top level {message}"

    assert refused({"pyproject.toml": f"[tool.mergeready]\n{text}\n"}) == (f"pyproject.toml: {start}", hint, False)
    assert refused({"mergeready.toml": f"{text}\n"}) == (f"mergeready.toml: {short}", hint, False)


@pytest.mark.parametrize("value", ["3", "'all'", "[1]", "true"])
def test_what_should_be_our_table_and_is_none_is_one_message(value: str) -> None:
    message, hint, _ = refused({"pyproject.toml": f"[tool]\nmergeready = {value}\n"})

    assert message.startswith("pyproject.toml: tool.mergeready must be a table, not ")
    assert hint == ""


@pytest.mark.parametrize("path", ["pyproject.toml", "mergeready.toml"])
@pytest.mark.parametrize(
    "text",
    [
        b"[tool.mergeready\n",
        b"a = 1\na = 2\n",
        b"a = \x00\n",
        b"a = " + b"[" * 5000,
        b"a = " + b"9" * 5000,
        b"\xff\xfea\x00",
        b"<<<<<<< HEAD\na = 1\n",
    ],
)
def test_a_file_that_is_no_toml_is_one_message(path: str, text: bytes) -> None:
    message, hint, environment = refused({path: text})

    assert message.startswith(f"{path} is not valid TOML: ")
    assert (hint, environment) == ("", False)


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault() -> None:
    content = b"\xef\xbb\xbf" + in_pyproject(ALL).replace("\n", "\r\n").encode()

    assert settings_of({"pyproject.toml": content}) == EXPECTED._replace(source="pyproject.toml")


KEYS = st.sampled_from(
    ["select", "rules", "minimum", "layout", "packages", "profile", "doc-toc", "doctest-list", "sorted", "tocs", "x"]
)
VALUES = st.recursive(
    st.sampled_from(["1", "true", "'doc-toc'", "''", "2026-01-01", "nan", "1.5"]),
    lambda inner: st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
    | st.tuples(KEYS, inner).map(lambda pair: f"{{{pair[0]} = {pair[1]}}}"),
    max_leaves=4,
)


@given(st.lists(st.tuples(st.lists(KEYS, min_size=1, max_size=3).map(".".join), VALUES), max_size=4))
def test_whatever_the_table_holds_there_are_settings_or_one_message(rows: list[tuple[str, str]]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in rows)
    with suppress(CheckError):
        settings_of({"mergeready.toml": text}).digest()
