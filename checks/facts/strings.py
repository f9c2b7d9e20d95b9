"""String literals of Python source, found without parsing it: also in files that do not parse."""

from __future__ import annotations

import re

# A comment or a string; its prefix (r, b, f) does not change where it ends. One that is never closed ends with its
# line, or with the text if its quotes are three: a match that has begun never fails, so no text takes quadratic time.
LITERAL = re.compile(
    r"#[^\n]*"
    r'|"""[^"\\]*+(?:(?:\\(?:.|\Z)|"(?!""))[^"\\]*+)*+(?:"""|\Z)'
    r"|'''[^'\\]*+(?:(?:\\(?:.|\Z)|'(?!''))[^'\\]*+)*+(?:'''|\Z)"
    r'|"[^"\\\n]*+(?:\\(?:.|\Z)[^"\\\n]*+)*+(?:"|(?=\n)|\Z)'
    r"|'[^'\\\n]*+(?:\\(?:.|\Z)[^'\\\n]*+)*+(?:'|(?=\n)|\Z)",
    re.DOTALL,
)


def long_strings(text: str) -> list[tuple[int, int]]:
    r"""Where the strings that span lines begin and end, quotes included, as offsets.

    >>> long_strings("a = 'b'\n'''c\n# d'''\n")
    [(8, 19)]
    """
    spans = None if _has_continued_string(text) else _triple_quoted(text)
    if spans is None:
        spans = [found.span() for found in LITERAL.finditer(text) if text[found.start()] != "#"]
    return [(start, end) for start, end in spans if text.find("\n", start, end) >= 0]


def mask(text: str) -> str:
    r"""The text with each string that spans lines made one line of the same length, so that every line is a real one.

    >>> mask("x = '''\ndef f():\n'''\n")
    'x = ________________\n'
    """
    parts: list[str] = []
    position = 0
    for start, end in long_strings(text):
        parts += (text[position:start], "_" * (end - start))
        position = end
    return "".join((*parts, text[position:])) if parts else text


def without_comments(text: str) -> str:
    r"""The text without its comments.

    >>> without_comments("f('#')  # why\n")
    "f('#')  \n"
    """
    return LITERAL.sub(lambda found: "" if found[0][0] == "#" else found[0], text) if "#" in text else text


def without_literals(text: str) -> str:
    r"""The text without its comments, and with empty strings.

    >>> without_literals('f("(", 1)  # (\n')
    'f("", 1)  \n'
    """
    return LITERAL.sub(lambda found: "" if found[0][0] == "#" else '""', text)


def _has_continued_string(text: str) -> bool:
    """Whether a line with a quote ends in a backslash."""
    end = text.find("\\\n")
    while end >= 0:
        line = text[text.rfind("\n", 0, end) + 1 : end]
        if '"' in line or "'" in line:
            return True
        end = text.find("\\\n", end + 2)
    return False


def _triple_quoted(text: str) -> list[tuple[int, int]] | None:
    """Triple-quoted strings, or None where only a look at every literal can tell them.

    Almost every file has nothing but white space, names and brackets before each triple quote of a line; searching for
    those quotes alone is ten times as fast as matching all literals.
    """
    spans: list[tuple[int, int]] = []
    position = 0
    double, single = text.find('"""'), text.find("'''")
    while double >= 0 or single >= 0:
        start = double if single < 0 or 0 <= double < single else single
        quotes = text[start : start + 3]
        before = text[max(position, text.rfind("\n", position, start) + 1) : start]
        close = text.find(quotes, start + 3)
        if close < 0 or '"' in before or "'" in before or "#" in before:
            return None
        if text[close - 1] == "\\" or text[close + 3 : close + 4] == quotes[0]:
            return None
        position = close + 3
        spans.append((start, position))
        # Each kind is looked for only from where it was last seen, or a file with one kind is read once a string.
        double = text.find('"""', position) if 0 <= double < position else double
        single = text.find("'''", position) if 0 <= single < position else single
    return spans
