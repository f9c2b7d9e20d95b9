"""What a session's processes spent their time on, and what they sent: of all of them, for people and as JSON.

Percentages are of the time that a process spent in the session's methods; what its script does in between is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BUSY = ("blocks", "glue", "ending", "backward", "updating")
IDLE = ("waiting", "agreeing", "sharing")
_GROUPS = {"busy": BUSY, "idle": IDLE, "neither": ("scheduling",)}

_WORDS = {
    "blocks": "forward of its own blocks",
    "glue": "forward of the code around them",
    "ending": "after the model's last block: the loss",
    "backward": "backward",
    "updating": "the optimizer",
    "waiting": "for a message from another stage",
    "agreeing": "with the others on what to run, a dry run included",
    "sharing": "losses, norms and gradients with the others",
    "scheduling": "what torch's schedule does in between",
}


@dataclass(frozen=True)
class Share:
    """One process: its seconds by kind, and the bytes that it sent by the stages from and to."""

    process: int
    ipu: int
    seconds: Mapping[str, float]
    sent: Mapping[tuple[int, int], int]

    @property
    def total(self) -> float:
        """Seconds of all kinds."""
        return sum(self.seconds.values())

    def part(self, *kinds: str) -> float:
        """The share of the time that is of these kinds, 0 to 1."""
        return sum(self.seconds.get(kind, 0.0) for kind in kinds) / self.total if self.total else 0.0

    def data(self) -> dict[str, Any]:
        """The same as JSON holds it."""
        sent = [{"from": source, "to": to, "bytes": size} for (source, to), size in sorted(self.sent.items())]
        return {
            "process": self.process,
            "ipu": self.ipu,
            "busy": self.part(*BUSY),
            "idle": self.part(*IDLE),
            "seconds": {kind: self.seconds.get(kind, 0.0) for kind in _WORDS},
            "sent": sent,
        }


@dataclass(frozen=True)
class Profile:
    """All processes over a number of training steps.

    `bubble` is the share of the time that the schedule itself has IPUs wait, with stages as long as they compute;
    None where no step was trained. `tokens_per_second` is of all replicas, None where the inputs are no tokens.
    """

    steps: int
    schedule: str
    microbatches: int
    bubble: float | None
    tokens_per_second: float | None
    shares: tuple[Share, ...]

    def text(self) -> str:
        """A table with a column a process, and the bytes of each boundary."""
        return "\n".join(self._lines())

    def data(self) -> dict[str, Any]:
        """The same as JSON holds it; times in seconds, bytes in all."""
        return {
            "steps": self.steps,
            "schedule": self.schedule,
            "microbatches": self.microbatches,
            "bubble": self.bubble,
            "tokens_per_second": self.tokens_per_second,
            "processes": [share.data() for share in self.shares],
        }

    def _lines(self) -> Iterator[str]:
        seconds = max((share.total for share in self.shares), default=0.0)
        of_each = f", {seconds / self.steps:.3f} s each" if self.steps else f"; {seconds:.3f} s"
        tokens = "" if self.tokens_per_second is None else f", {self.tokens_per_second:,.0f} tokens/s"
        yield f"training steps: {self.steps} of {self.microbatches} microbatches, {self.schedule}{of_each}{tokens}"
        yield ""
        yield f"{'process':<14}" + "".join(f"{share.process:>8}" for share in self.shares)
        yield f"{'IPU':<14}" + "".join(f"{share.ipu:>8}" for share in self.shares)
        for name, kinds in _GROUPS.items():
            yield self._row(name, kinds)
            yield from (f"{self._row('  ' + kind, (kind,))}  {_WORDS[kind]}" for kind in kinds)
        yield ""
        if self.bubble is not None:
            yield f"the schedule itself has IPUs wait {self.bubble:.1%} of the time"
        for share in self.shares:
            for (source, to), size in sorted(share.sent.items()):
                each = f", {size / self.steps:,.0f} a step" if self.steps else ""
                yield f"process {share.process} sent {size:,} bytes from stage {source} to stage {to}{each}"

    def _row(self, name: str, kinds: tuple[str, ...]) -> str:
        return f"{name:<14}" + "".join(f"{share.part(*kinds):>8.1%}" for share in self.shares)
