"""Markers, comments that were meant to be one, and prose."""

from __future__ import annotations

import pytest

from checks.copies.spelling import Claim, read

KNOWN = {"lib.a.f", "lib.models.bert.Bert.forward", "tests.a.T"}


@pytest.mark.parametrize(
    ("comment", "claim"),
    [
        ("# Copied from lib.a.f", Claim("lib.a.f", "")),
        ("#Copied from  lib.gone.g with x->y", Claim("lib.gone.g", "with x->y")),
        ("# Copied from lib.sub/a.f", Claim("lib.sub/a.f", "")),
        ("# Copied from tests.a.T", Claim("tests.a.T", "")),
        ("# Copied from lib.a.f and then changed", Claim("lib.a.f", "and then changed")),
        ("# copied from lib.a.f", Claim("lib.a.f", "", "it says `copied from`, not `Copied from`")),
        ("# COPIED FROM lib.a.f", Claim("lib.a.f", "", "it says `COPIED FROM`, not `Copied from`")),
        ("# Copied from lib.a.f.", Claim("lib.a.f", "", "it holds more than `# Copied from`, the path and a clause")),
        ("# Copied from: `lib.a.f`", Claim("lib.a.f", "", "it holds more than `# Copied from`, the path and a clause")),
        ("## Copied from lib.a.f", Claim("lib.a.f", "", "it holds more than `# Copied from`, the path and a clause")),
        ("# Copied  from lib.a.f", Claim("lib.a.f", "", "it says `Copied  from`, not `Copied from`")),
        (
            "# Copied from models.bert.Bert.forward with a -> b",
            Claim("lib.models.bert.Bert.forward", "with a->b", "its path should be `lib.models.bert.Bert.forward`"),
        ),
        ("# Copied from lip.a.f", Claim("lib.a.f", "", "its path should be `lib.a.f`")),
        ("# Copied from src.lib.a.f", Claim("lib.a.f", "", "its path should be `lib.a.f`")),
    ],
)
def test_a_comment_that_names_code_of_ours_is_a_marker_or_nearly_one(comment: str, claim: Claim) -> None:
    assert read(comment, ("lib", "tests"), KNOWN.__contains__) == claim


@pytest.mark.parametrize(
    "comment",
    [
        "# Copied from https://example.org/lib/a.f",
        "# Copied from torch.nn.functional.pad",
        "# Copied from lib.a",
        "# Copied from Bert.forward",
        "# copied from lib.gone.g",
        "# copied from lib.a.f and then changed",
        "# Adapted from lib.a.f",
        "# TODO: Copied from lib.a.f",
        "# This was copied from lib.a.f",
        "# Copied from",
    ],
)
def test_a_comment_that_credits_or_tells_is_neither(comment: str) -> None:
    assert read(comment, ("lib", "tests"), KNOWN.__contains__) is None
