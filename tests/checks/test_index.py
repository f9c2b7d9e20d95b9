"""What a rule can ask of a tree, and that everything it asked is on record."""

from __future__ import annotations

import pytest

from checks.cache import Cache
from checks.extractor import Extractor
from checks.index import Index
from checks.profiles import build
from checks.settings import Settings
from checks.store import Store
from checks.tree import MemoryTree

FILES = {"a.py": b"\xef\xbb\xbfa\r\nb", "src/lib/b.py": b"b", "src/lib/c.md": b"c", "src/library.py": b"d"}
LENGTH: Extractor[int] = Extractor("length", len, int)


def index_of(files: dict[str, bytes] = FILES) -> Index:
    tree = MemoryTree(files, others=frozenset({"link"}))
    return Index(Store(tree, Cache(None), 1), Settings(build("generic", {})))


def test_paths_are_sorted_and_told_by_ending_and_folder() -> None:
    index = index_of()

    assert index.paths == ("a.py", "src/lib/b.py", "src/lib/c.md", "src/library.py")
    assert index.files(".py") == ("a.py", "src/lib/b.py", "src/library.py")
    assert index.files(".py", ".md", under="src/lib") == ("src/lib/b.py", "src/lib/c.md")
    assert index.files(".py", under=".") == index.files(".py", under="") == index.files(".py")
    assert index.files(".py", under="src/li") == ()
    assert index.matching("src/*.py", "*.md") == ("src/lib/b.py", "src/lib/c.md", "src/library.py")


def test_a_text_has_plain_line_ends_and_no_mark_and_is_empty_where_there_is_no_file() -> None:
    index = index_of()

    assert (index.text("a.py"), index.text("gone.py"), index.text("link")) == ("a\nb", "", "")
    assert (index.facts(LENGTH, "a.py"), index.facts(LENGTH, "gone.py")) == (3, 0)
    assert [index.exists(path) for path in ("a.py", "link", "src/lib", "gone.py")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("question", "listed", "reads"),
    [
        (lambda index: index.paths, True, ()),
        (lambda index: index.files(".py"), True, ()),
        (lambda index: index.matching("*"), True, ()),
        (lambda index: index.text("a.py"), False, ("a.py",)),
        (
            lambda index: (index.text("gone"), index.exists("link"), index.facts(LENGTH, "b")),
            False,
            ("b", "gone", "link"),
        ),
        (lambda index: index.prefetch(["a.py"], LENGTH), False, ()),
        (lambda index: index.remember("x", ["text"], lambda texts: texts), False, ()),
    ],
)
def test_what_is_asked_is_on_record_absence_included(question: object, listed: bool, reads: tuple[str, ...]) -> None:
    index = index_of().reading()
    assert callable(question)
    question(index)

    assert index.reads() == (listed, reads)
    assert index.reading().reads() == (False, ())


def test_a_batch_is_computed_once_for_all_that_is_new() -> None:
    index = index_of()
    asked: list[list[str]] = []

    def upper(texts: list[str]) -> list[str]:
        asked.append(texts)
        return [text.upper() for text in texts]

    assert index.remember("upper", (text for text in "abab"), upper) == ["A", "B", "A", "B"]
    assert index.remember("upper", ["b", "c"], upper) == ["B", "C"]
    assert index.remember("other", ["b"], upper) == ["B"]
    assert asked == [["a", "b"], ["c"], ["b"]]


def test_digests_follow_the_content_and_the_list() -> None:
    same, other = index_of(), index_of({**FILES, "new.py": b""})

    assert same.digest(["a.py"], listed=False) == other.digest(["a.py"], listed=False)
    assert same.digest(["a.py"], listed=True) != other.digest(["a.py"], listed=True)
    assert same.digest(["new.py"], listed=False) != other.digest(["new.py"], listed=False)
