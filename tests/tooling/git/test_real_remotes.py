"""The same over the wire: smart HTTP, with a password, with a server that stalls or hangs up, and `git daemon`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, snapshot
from tests.tooling.git.servers import daemon, http


def point_at(bench: Bench, address: str) -> None:
    """Let both remotes be at this address."""
    for name, target in (("origin", "fork.git"), ("upstream", "up.git")):
        bench.git("config", f"remote.{name}.url", f"{address}/{target}")
        bench.git("config", "http.receivepack", "true", at=bench.root / target)


def _has(program: str) -> bool:
    place = subprocess.run(["git", "--exec-path"], capture_output=True, encoding="utf-8", check=True).stdout.strip()
    return bool(shutil.which(program, path=place))


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the servers and broken transports are for POSIX")
over_http = pytest.mark.skipif(
    not (_has("git-http-backend") and _has("git-remote-http")), reason="this git was built without HTTP"
)


def everything(bench: Bench) -> list[int]:
    """Rebase, push, undo both, sync, and a squashed sync that is pushed."""
    bench.upstream("Later", {"later.txt": "x\n"})
    commands = (
        ("rebase", "--push"),
        ("undo", "--push"),
        ("sync", "--via-pr", "--push"),
        ("sync",),
        ("status",),
    )
    return [bench.run(*argv).code for argv in commands]


@over_http
def test_everything_works_over_smart_http(bench: Bench) -> None:
    with http(bench.root) as server:
        point_at(bench, server.url)
        assert everything(bench) == [0, 0, 0, 0, 0]
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/main", at=bench.root / "up.git")


@pytest.mark.skipif(not _has("git-daemon"), reason="this git has no daemon")
def test_everything_works_over_git_daemon(bench: Bench) -> None:
    with daemon(bench.root) as address:
        point_at(bench, address)
        assert everything(bench) == [0, 0, 0, 0, 0]
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/main", at=bench.root / "up.git")


@over_http
def test_everything_works_with_a_password_and_shows_it_nowhere(bench: Bench) -> None:
    with http(bench.root, "password") as server:
        point_at(bench, server.url.replace("//", "//ada:secret@"))
        assert everything(bench) == [0, 0, 0, 0, 0]
        listed = [
            bench.run(*argv, "--json") for argv in (("rebase", "--dry-run", "--fetch"), ("status",), ("undo", "--list"))
        ]
    assert not any("secret" in result.out + result.err for result in listed)


@over_http
@pytest.mark.parametrize("argv", [("rebase",), ("sync",), ("push",)])
def test_row_45_without_a_password_it_fails_at_once_and_asks_nobody(bench: Bench, argv: tuple[str, ...]) -> None:
    before = snapshot(bench)
    with http(bench.root, "password") as server:
        point_at(bench, server.url)
        begun = time.monotonic()
        result = bench.spawn(*argv, start_new_session=True)
        took = time.monotonic() - begun

    assert (result.code, "log in to that host" in result.err, took < 30) == (6, True, True)
    point_at(bench, str(bench.root))
    assert snapshot(bench) == before


@over_http
@pytest.mark.parametrize("behaviour", ["stall", "cut"])
@pytest.mark.parametrize("argv", [("rebase",), ("sync",), ("push",)])
def test_row_44_a_server_that_stalls_or_hangs_up_leaves_everything_as_it_was(
    bench: Bench, behaviour: str, argv: tuple[str, ...]
) -> None:
    bench.commit("Something to push", {"more.txt": "x\n"})
    bench.git("config", "mergeready.timeout", "1")
    before, at_fork = snapshot(bench), bench.refs("fork.git")
    with http(bench.root, behaviour) as server:
        point_at(bench, server.url)
        begun = time.monotonic()
        result = bench.run(*argv)
        took = time.monotonic() - begun

    assert (result.code, took < 25) == (6, True)
    assert (snapshot(bench), bench.refs("fork.git")) == (before, at_fork)


@pytest.mark.skipif(not shutil.which("pgrep"), reason="nothing here lists processes")
def test_row_44_a_stalled_transport_of_any_kind_is_ended(bench: Bench, tmp_path: Path) -> None:
    stalls = tmp_path / "upload-pack"
    stalls.write_text("#!/bin/sh\nsleep 60\n", encoding="utf-8")
    stalls.chmod(0o755)
    bench.git("config", "remote.upstream.uploadpack", str(stalls))
    bench.git("config", "mergeready.timeout", "0.5")
    before = snapshot(bench)

    result = bench.run("rebase")

    assert (result.code, result.said) == (6, "the remote has said nothing for 0.5 seconds")
    assert snapshot(bench) == before
    assert subprocess.run(["pgrep", "-f", str(stalls)], capture_output=True, check=False).stdout == b""


def test_row_44_a_network_that_fails_once_is_tried_again(bench: Bench, tmp_path: Path) -> None:
    marker = tmp_path / "failed"
    flaky = tmp_path / "upload-pack"
    script = f'[ -e {marker} ] && exec git-upload-pack "$@"\ntouch {marker}\nkill -9 $$\n'
    flaky.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    flaky.chmod(0o755)
    bench.git("config", "remote.upstream.uploadpack", str(flaky))

    assert (bench.run("rebase").code, marker.exists()) == (0, True)
