"""A small library of the kind that the rules are for, whole and with faults."""

from __future__ import annotations

LIST = "utils/documentation_tests.txt"
SCALE = "def scale(states):\n    return states * 2\n"


def copy_of(name: str, code: str = SCALE) -> str:
    """Code that is marked as a copy of `lib.NAME.scale`."""
    return f"# Copied from lib.{name}.scale\n{code}"


LIBRARY = {
    "src/lib/__init__.py": "",
    "src/lib/a.py": SCALE,
    "src/lib/b.py": copy_of("a"),
    LIST: "src/lib/a.py\nsrc/lib/b.py\n",
}
"""Nothing is wrong with it."""
DRIFTED = {**LIBRARY, "src/lib/b.py": copy_of("a", SCALE.replace("*", "+"))}
"""One copy has drifted: `src/lib/b.py:3 copied-code/body`, which can be fixed."""
SHUFFLED = {**LIBRARY, LIST: "src/lib/b.py\nsrc/lib/a.py\ngone.py\n"}
"""`utils/documentation_tests.txt:2 doctest-list/order`, which can be fixed, and `:3 doctest-list/missing`."""
