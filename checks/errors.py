"""What a user can mend: one exception class for the whole package."""


class CheckError(Exception):
    """A run that cannot go on; `hint` says what to do about it.

    `environment` is true where the machine is at fault (no git, no repository, a full disk), false where the
    command line or a settings file is.
    """

    def __init__(self, message: str, *, hint: str = "", environment: bool = False) -> None:
        super().__init__(message)
        self.hint = hint
        self.environment = environment
