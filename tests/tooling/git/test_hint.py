"""The list of conflicts that git adds to a message is taken out, and nothing that the commit says itself."""

from __future__ import annotations

import pytest

from tooling.git.hint import without_hint

HINT = b"\n# Conflicts:\n#\ta.txt\n#\tb c.txt\n"
CUT = b"\n; -- >8 --\n; Do not modify this line.\n; All below is ignored.\n;\n; Conflicts:\n;\ta.txt\n"


@pytest.mark.parametrize(
    ("message", "own", "left"),
    [
        (b"Mend it\n" + HINT, b"Mend it\n", b"Mend it\n"),
        (b"Mend it\n" + CUT, b"Mend it\n", b"Mend it\n"),
        (b"Mend it\n\n", b"Mend it\n", b"Mend it\n"),
        (b"No end of line" + HINT, b"No end of line", b"No end of line"),
        (b"Mend it\n" + HINT, b"Mend it\n" + HINT, b"Mend it\n" + HINT),
        (b"Mend it\n" + HINT + HINT, b"Mend it\n" + HINT, b"Mend it\n" + HINT),
        (b"Mend it\n\n# Conflicts:\n", b"Mend it\n", b"Mend it\n\n# Conflicts:\n"),
        (b"Mend it\n" + HINT + b"\nand more\n", b"", b"Mend it\n" + HINT + b"\nand more\n"),
        (b"Caf\xe9\n" + HINT, "Café\n".encode(), b"Caf\xe9\n"),
        (b"", b"", b""),
    ],
)
def test_what_git_added_goes_and_what_the_commit_says_stays(message: bytes, own: bytes, left: bytes) -> None:
    assert without_hint(message, own) == left
