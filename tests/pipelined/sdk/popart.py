"""A stand-in for popart: the two enumerations that options are set from."""

from __future__ import annotations

from enum import IntEnum


class AccumulateOuterFragmentSchedule(IntEnum):
    OverlapMemoryOptimized = 3


class SubgraphCopyingStrategy(IntEnum):
    JustInTime = 1
