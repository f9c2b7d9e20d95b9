"""What reaches the terminal: results on one stream, what is said about them on the other, nothing raw on either."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.console import STYLES, Console


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def streams(*, terminal: bool = False) -> tuple[io.StringIO, io.StringIO, Console]:
    out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
    return out, err, Console(out, err)


def test_results_go_to_one_stream_and_what_is_said_of_them_to_the_other() -> None:
    out, err, console = streams()

    console.print("a result")
    console.print()
    console.data('{"exact": "\\u001b"}')
    console.data("ended\n")
    console.note("a note", "yellow")
    console.error("wrong", "right")
    console.error("only wrong")

    assert out.getvalue() == 'a result\n\n{"exact": "\\u001b"}\nended\n'
    assert err.getvalue() == "a note\nerror: wrong\nhint: right\nerror: only wrong\n"


def test_the_pieces_of_a_line_have_colours_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    out, _, console = streams()

    console.pieces([("plain ", ""), ("blue\x1b", "blue")])

    assert out.getvalue() == "plain \x1b[34mblue\\x1b\x1b[0m\n"


@given(st.text(st.characters(codec=None)), st.sampled_from(["", *STYLES]))
def test_control_characters_of_others_are_never_written(text: str, style: str) -> None:
    out, err, console = streams()

    console.print(text, style)
    console.note(text, style)
    console.error(text, text)

    written = out.getvalue() + err.getvalue()
    assert {char for char in written if ord(char) < 32 or 127 <= ord(char) < 160} <= {"\n", "\t"}
    assert written.isprintable() or written.encode()


@given(st.text(st.characters(codec=None)))
def test_an_error_is_one_line_and_its_hint_another(text: str) -> None:
    _, err, console = streams()

    console.error(text, text)

    assert [line.partition(":")[0] for line in err.getvalue().splitlines() if line] == ["error", "hint"][
        : 1 + bool(text)
    ]


@pytest.mark.parametrize(
    ("variables", "terminal", "coloured"),
    [
        ({"NO_COLOR": ""}, True, True),
        ({"NO_COLOR": ""}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": "", "TERM": "dumb"}, True, False),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colours_are_for_terminals_that_show_them_and_may_be_asked_for_or_forbidden(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], *, terminal: bool, coloured: bool
) -> None:
    for name, value in {"TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    out, _, console = streams(terminal=terminal)

    console.print("text", "bold red")
    console.print("plain")

    assert out.getvalue() == ("\x1b[1;31mtext\x1b[0m\nplain\n" if coloured else "text\nplain\n")
    assert console.colourful == coloured


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16", "utf-8"])
def test_a_stream_of_any_encoding_takes_any_text(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(out, io.StringIO())

    console.print("é 日本 🤗 \udcff")
    console.flush()

    written = raw.getvalue().decode(encoding)
    assert written.startswith(("é", "\\xe9"))
    assert written.endswith("\\udcff\n")


def test_progress_is_silent_where_nobody_watches() -> None:
    out, err, console = streams()

    with console.progress("checking") as step:
        step("one")

    assert out.getvalue() + err.getvalue() == ""


def test_progress_is_shown_on_a_terminal_with_nothing_raw_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, err, console = streams(terminal=True)

    with console.progress("checking") as step:
        step("a\x1b]0;title\x07b")

    assert out.getvalue() == ""
    assert "checking" in err.getvalue()
    assert "\x1b]0;title" not in err.getvalue()
