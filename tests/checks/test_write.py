"""What reaches the disk: whole files or none, whatever goes wrong."""

from __future__ import annotations

import gc
import os
import shutil
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from checks.edits import Change
from checks.errors import CheckError
from checks.write import write_changes
from tests.checks.processes import run
from tests.checks.repositories import contents, write

WRITE = """
import sys
from checks.edits import Change
from checks.errors import CheckError
from checks.write import write_changes
changes = [Change(path, b"old\\n", b"new\\n" * int(size)) for path, size in zip(sys.argv[2::2], sys.argv[3::2])]
try:
    write_changes(sys.argv[1], changes)
except CheckError as error:
    print(error, error.hint, error.environment, sep="|")
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions, limits and signals")


def test_files_are_replaced_created_and_deleted(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old\n", "gone": b"old\n", "kept": b"kept\n"})

    write_changes(
        str(tmp_path),
        [Change("gone", b"old\n", None), Change("a", b"old\n", b"new\n"), Change("sub/deep/b", None, b"made\n")],
    )

    assert contents(tmp_path) == {"a": b"new\n", "kept": b"kept\n", "sub/deep/b": b"made\n"}


@posix
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    write(tmp_path, {"a": b"old\n"})
    (tmp_path / "a").chmod(mode)

    write_changes(str(tmp_path), [Change("a", b"old\n", b"new\n")])

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


@posix
def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_changes(str(tmp_path), [Change("a", None, b"new\n")])
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a file away")
def test_root_leaves_a_file_to_its_owner(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old\n"})
    os.chown(tmp_path / "a", 1234, 1235)

    write_changes(str(tmp_path), [Change("a", b"old\n", b"new\n")])

    facts = (tmp_path / "a").stat()
    assert (facts.st_uid, facts.st_gid) == (1234, 1235)


@pytest.mark.parametrize("now", [b"edited\n", None])
def test_nothing_is_written_if_one_file_is_not_what_the_plan_was_made_from(tmp_path: Path, now: bytes | None) -> None:
    write(tmp_path, {"a": b"old\n"} | ({} if now is None else {"b": now}))
    before = contents(tmp_path)

    with pytest.raises(CheckError) as caught:
        write_changes(str(tmp_path), [Change("a", b"old\n", b"new\n"), Change("b", b"old\n", b"new\n")])

    assert (str(caught.value), caught.value.hint) == ("b was changed while we ran", "nothing was changed; run it again")
    assert contents(tmp_path) == before


def test_a_file_that_somebody_made_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"theirs\n"})

    with pytest.raises(CheckError, match=r"^a was changed while we ran$"):
        write_changes(str(tmp_path), [Change("a", None, b"new\n")])

    assert contents(tmp_path) == {"a": b"theirs\n"}


@posix
@pytest.mark.parametrize("path", ["link", "folder/a"])
def test_nothing_is_written_through_a_link(tmp_path: Path, path: str) -> None:
    write(tmp_path, {"outside/a": b"old\n", "root/b": b"old\n"})
    (tmp_path / "root" / "link").symlink_to("../outside/a")
    (tmp_path / "root" / "folder").symlink_to("../outside")
    before = contents(tmp_path)

    with pytest.raises(CheckError) as caught:
        write_changes(str(tmp_path / "root"), [Change("b", b"old\n", b"new\n"), Change(path, b"old\n", b"new\n")])

    assert str(caught.value) == f"cannot write {path}: it is, or lies in, a symbolic link"
    assert contents(tmp_path) == before


@posix
def test_a_file_that_may_not_be_written_stops_all_of_it(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old\n", "b": b"old\n"})
    (tmp_path / "b").chmod(0o444)

    done = run(WRITE, str(tmp_path), "a", "1", "b", "1", bound=True)

    assert (done.stdout, done.stderr) == ("cannot write b: Permission denied|nothing was changed|True\n", "")
    assert contents(tmp_path) == {"a": b"old\n", "b": b"old\n"}


@posix
def test_a_folder_that_may_not_be_written_stops_all_of_it(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old\n", "closed/b": b"old\n"})
    (tmp_path / "closed").chmod(0o555)

    done = run(WRITE, str(tmp_path), "a", "1", "closed/b", "1", bound=True)
    (tmp_path / "closed").chmod(0o755)

    assert (done.stdout, done.stderr) == ("cannot write closed/b: Permission denied|nothing was changed|True\n", "")
    assert contents(tmp_path) == {"a": b"old\n", "closed/b": b"old\n"}


@posix
def test_a_disk_that_takes_no_more_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old\n", "b": b"old\n"})
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"

    done = run(limit + WRITE, str(tmp_path), "a", "1", "b", "1000")

    assert (done.stdout, done.stderr) == ("cannot write b: File too large|nothing was changed|True\n", "")
    assert contents(tmp_path) == {"a": b"old\n", "b": b"old\n"}


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0 or not shutil.which("unshare"),
    reason="only root can make a small disk",
)
def test_a_full_disk_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    script = """
import os, subprocess, sys
from pathlib import Path
if subprocess.run(("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", sys.argv[1]), check=False).returncode:
    sys.exit("skip")
for name in "ab":
    Path(sys.argv[1], name).write_bytes(b"old\\n")
"""
    look = "\nprint({path.name: path.read_bytes() for path in sorted(Path(sys.argv[1]).iterdir())})"
    launch = "import os, sys; os.execvp('unshare', ['unshare', '--mount', sys.executable, '-c', *sys.argv[1:]])"

    done = run(launch, script + WRITE + look, str(tmp_path), "a", "1", "b", "20000")

    if done.stderr:
        pytest.skip(f"no small disk here: {done.stderr}")
    assert done.stdout == (
        "cannot write b: No space left on device|nothing was changed|True\n{'a': b'old\\n', 'b': b'old\\n'}\n"
    )


# An interrupt right after a file was opened leaves it to the garbage collector to close.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_point_leaves_whole_files_and_no_temporary_ones(tmp_path: Path) -> None:
    changes = [Change("a", b"old\n", b"new\n"), Change("b", None, b"new\n"), Change("c", b"old\n", None)]
    interrupted = 0
    while True:
        folder = tmp_path / str(interrupted)
        write(folder, {"a": b"old\n", "c": b"old\n"})
        # In a thread of its own, as the interpreter goes on handling an exception that is raised while it leaves a
        # handler: it would be the context of all that is raised later.
        with ThreadPoolExecutor(1) as thread:
            reached = thread.submit(write_until, interrupted, str(folder), changes).result()
        if not reached:
            break
        interrupted += 1
        found = contents(folder)
        assert found.pop("a") in (b"old\n", b"new\n")
        assert found.items() <= {"b": b"new\n", "c": b"old\n"}.items()
    assert contents(folder) == {"a": b"new\n", "b": b"new\n"}
    assert interrupted > 40
    gc.collect()


def write_until(count: int, folder: str, changes: list[Change]) -> bool:
    """Write, interrupted before the line of code of that number; whether it was reached."""
    left = count

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal left
        if frame.f_code.co_filename != write_changes.__code__.co_filename:
            return None
        left -= event == "line"
        if left == -1:
            left -= 1
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        write_changes(folder, changes)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
