"""What users may write against the Python interface: checked by mypy, never run.

A line that no longer type-checks is a change of the public interface.
"""

from __future__ import annotations

from typing import assert_type

import pipelined
from tooling.cli import main

assert_type(main(["check", "--format", "json"]), int)
assert_type(main(), int)
assert_type(pipelined.__all__, list[str])
