"""What a user can mend: one exception class, and the exit codes that scripts rely on."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ends; the numbers are a published surface."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    REFUSED = 3
    STOPPED = 4
    REMOTE_REFUSED = 5
    ENVIRONMENT = 6
    INTERRUPTED = 130


class UserError(Exception):
    """A command that cannot go on; `hint` says what to do about it, `exit` how the process ends."""

    def __init__(self, message: str, *, hint: str = "", exit: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit = exit
