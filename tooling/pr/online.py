"""What GitHub says of a pull request now, where a workflow's token lets us ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tooling.errors import UserError
from tooling.pr.event import Request

if TYPE_CHECKING:
    from tooling.pr.github import Access
    from tooling.pr.pull import CheckRun


class Online(NamedTuple):
    """A request as it is now, the access by which that is known, and the checks of its head.

    `checks` is None where GitHub was not asked; `notes` say why.
    """

    request: Request
    access: Access | None = None
    checks: tuple[CheckRun, ...] | None = None
    notes: tuple[str, ...] = ()


def ask_github(environment: Mapping[str, str], request: Request) -> Online:
    """Refresh what an event told; where that cannot be, the event's own words stand, and the notes say so."""
    if request.event == "local":
        return Online(request)
    from tooling.pr.github import checks_of, find_access, refresh

    access = find_access(environment, request)
    if access is None:
        stale = "there is no token: the words are those of the event's time"
        return Online(request, notes=() if request.absent else (stale,))
    try:
        fresh = refresh(access, request)
        return Online(fresh, access, checks_of(access, fresh.head) if fresh.head else None)
    except UserError as error:
        return Online(request, access, notes=(f"{error}: the words are those of the event's time",))
