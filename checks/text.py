"""From bytes to text and back: encoding, byte order mark and line ends are noticed, hidden from rules, and kept."""

from __future__ import annotations

import codecs
import re
from functools import cache

# Patterns are compiled where they are first needed: a warm run on a clean tree needs none.
_COOKIE = rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
_BLANK_OR_COMMENT = rb"^[ \t\f]*(?:#|$)"
_ASCII = bytes(range(128)) + b"\x1b"  # an escape at the end trips codecs that keep a state
# C0 and C1 controls but tab and new line, line and paragraph separators, bidirectional controls, surrogates.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
_LINE_END = rb"\r\n|\n|\r"


def decode(content: bytes) -> str:
    r"""The text of a file with LF line ends and no byte order mark.

    UTF-8 unless a PEP 263 comment in the first two lines names another encoding. Bytes that do not fit become lone
    surrogates, so that nothing fails and the same bytes can be written back.

    >>> decode(b"\xef\xbb\xbfa\r\nb\rc\xff")
    'a\nb\nc\udcff'
    """
    text = content.removeprefix(codecs.BOM_UTF8).decode(encoding_of(content), "surrogateescape")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def encoding_of(content: bytes) -> str:
    r"""The encoding a Python source declares (PEP 263), UTF-8 where it declares none that is fit for source.

    >>> encoding_of(b"# -*- coding: latin-1 -*-\n")
    'iso8859-1'
    """
    if content.startswith(codecs.BOM_UTF8) or b"coding" not in content[:400]:
        return "utf-8"
    for line in re.split(_LINE_END, content[:400], maxsplit=2)[:2]:
        if cookie := re.match(_COOKIE, line):
            return _fit(cookie[1].decode("ascii", "replace"))
        if not re.match(_BLANK_OR_COMMENT, line):
            return "utf-8"
    return "utf-8"


@cache
def _fit(name: str) -> str:
    """The name of a codec in which ASCII bytes are ASCII characters, so that lines end where bytes say; else UTF-8."""
    try:
        codec = codecs.lookup(name).name
        fits = "escape" not in codec and _ASCII.decode().encode(codec) == _ASCII and _ASCII.decode(codec).isascii()
    except (LookupError, UnicodeError):
        return "utf-8"
    return codec if fits else "utf-8"


def split_lines(content: bytes) -> list[bytes]:
    r"""The lines of a file with their own ends, split where `decode` sees a line end.

    >>> split_lines(b"a\r\nb\rc")
    [b'a\r\n', b'b\r', b'c']
    """
    lines, start = [], 0
    for end in re.finditer(_LINE_END, content):
        lines.append(content[start : end.end()])
        start = end.end()
    return [*lines, content[start:]] if start < len(content) else lines


def line_end_of(lines: list[bytes]) -> bytes:
    r"""The line end that most of the lines have; LF for a file without any.

    >>> line_end_of([b"a\r\n", b"b\r\n", b"c\n"])
    b'\r\n'
    """
    crlf = sum(line.endswith(b"\r\n") for line in lines)
    lf = sum(line.endswith(b"\n") for line in lines) - crlf
    cr = sum(line.endswith(b"\r") for line in lines)
    return max((lf, b"\n"), (crlf, b"\r\n"), (cr, b"\r"), key=lambda pair: pair[0])[1]


def visible(text: str) -> str:
    r"""Text that is safe to print: control characters, bidirectional overrides and lone surrogates become escapes.

    New lines and tabs stay.

    >>> print(visible("a\x1b[31m\u202eb\udcff"))
    a\x1b[31m\u202eb\udcff
    """
    if text.isprintable():
        return text
    return re.sub(_UNSAFE, lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def visible_line(text: str) -> str:
    r"""The same on one line, for names that may hold a line end.

    >>> print(visible_line("a\nb"))
    a\nb
    """
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")
