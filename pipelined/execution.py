"""What the torch engines need to know beyond what an `IPUConfig` always held: the schedule and its micro-batches."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from pipelined.errors import IncompatibleIPUConfigError
from pipelined.schedule import schedule_names


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How a pipeline runs under torch; poptorch takes no notice of it.

    `microbatches` left out means as many as `gradient_accumulation_steps`.
    """

    schedule: str = "1f1b"
    microbatches: int | None = None

    def __post_init__(self) -> None:
        if self.schedule not in schedule_names():
            raise ValueError(f"there is no schedule {self.schedule!r}; choose one of {', '.join(schedule_names())}")
        if self.microbatches is not None and self.microbatches < 1:
            raise ValueError(f"microbatches={self.microbatches} must be >= 1, or be left out")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The execution that JSON holds; IncompatibleIPUConfigError names keys that it does not know."""
        known = [one.name for one in fields(cls)]
        if unknown := sorted(set(values) - set(known)):
            raise IncompatibleIPUConfigError(
                f"execution received unknown keys: {', '.join(unknown)}", hint=f"known are {', '.join(known)}"
            )
        return cls(**values)
