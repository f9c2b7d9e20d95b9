"""Who is upstream and who is the fork: by configuration, by name, by URL."""

from __future__ import annotations

import pytest

from tests.tooling.git.test_planners import REPO
from tooling.git.parse import config, remotes
from tooling.git.plan import RefusedError
from tooling.git.remotes import address, find_roles
from tooling.git.state import Remote

SAME = [
    "https://github.com/octo/cat",
    "https://github.com/octo/cat.git",
    "https://ada:secret@github.com/octo/cat/",
    "http://GitHub.com/Octo/Cat",
    "ssh://git@github.com/octo/cat.git",
    "ssh://git@ssh.github.com:443/octo/cat.git",
    "git@github.com:octo/cat.git",
    "github.com:octo/cat",
]


@pytest.mark.parametrize("url", SAME)
def test_one_repository_has_one_address_whatever_the_protocol(url: str) -> None:
    assert address(url) == ("github.com", "octo/cat")


@pytest.mark.parametrize("url", ["https://github.com/ada/cat", "https://gitlab.com/octo/cat", "/srv/octo/cat.git"])
def test_other_repositories_have_other_addresses(url: str) -> None:
    assert address(url) != ("github.com", "octo/cat")


def roles(*found: Remote, **settings: str) -> tuple[str, str, bool]:
    """Names of upstream and fork, and whether they differ."""
    keys = {f"mergeready.{key}": (value,) for key, value in settings.items()}
    result = find_roles(REPO._replace(remotes=found, config=keys))
    return result.upstream.name, result.fork.name if result.fork else "", result.forked


MINE, THEIRS, FRIEND = Remote("origin", "a:mine"), Remote("upstream", "a:theirs"), Remote("friend", "a:friend")


def test_names_decide_where_nothing_is_configured() -> None:
    assert roles(MINE, THEIRS, FRIEND) == ("upstream", "origin", True)
    assert roles(MINE, Remote("project", "a:theirs")) == ("project", "origin", True)
    assert roles(THEIRS, FRIEND) == ("upstream", "friend", True)
    assert roles(THEIRS) == ("upstream", "", False)
    assert roles(MINE, Remote("upstream", "a:mine.git")) == ("upstream", "origin", False)


def test_configuration_decides_before_names() -> None:
    assert roles(MINE, THEIRS, FRIEND, upstreamremote="friend", forkremote="upstream") == ("friend", "upstream", True)
    assert roles(MINE, upstreamremote="origin") == ("origin", "origin", False)


@pytest.mark.parametrize(
    ("found", "settings", "code"),
    [
        ((MINE,), {}, "no-upstream"),
        ((MINE, FRIEND, Remote("other", "a:other")), {}, "upstream-ambiguous"),
        ((MINE, THEIRS), {"upstreamremote": "gone"}, "no-such-remote"),
        ((MINE, Remote("upstream", "ext::sh -c x")), {}, "unsafe-remote"),
        ((MINE, Remote("-upstream", "a:theirs")), {}, "unsafe-remote"),
        ((MINE, Remote("upstream", "gopher://a/b")), {}, "unsafe-remote"),
    ],
)
def test_what_cannot_be_known_or_trusted_is_refused(
    found: tuple[Remote, ...], settings: dict[str, str], code: str
) -> None:
    with pytest.raises(RefusedError) as error:
        roles(*found, **settings)

    assert error.value.code == code


def test_the_longest_prefix_that_is_replaced_wins() -> None:
    settings = config(
        b"url.https://github.com/.insteadof\ngh:\0url.git@github.com:octo/.insteadof\ngh:octo/\0"
        b"remote.upstream.url\ngh:octo/cat\0remote.origin.url\ngh:ada/cat\0remote.odd name.url\n/x\0"
    )

    assert remotes(settings) == (
        Remote("upstream", "git@github.com:octo/cat", pushes=("git@github.com:octo/cat",)),
        Remote("origin", "https://github.com/ada/cat", pushes=("https://github.com/ada/cat",)),
        Remote("odd name", "/x", pushes=("/x",)),
    )
