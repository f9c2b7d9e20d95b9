"""What is promised of this repository itself: what a wheel holds, and that pages and tables tell the truth."""

from __future__ import annotations

import re
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement

from tooling.commands import COMMANDS
from tooling.errors import Exit

ROOT = Path(__file__).parents[1]
PACKAGES = ("checks", "pipelined", "tooling")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """The wheel of this tree, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-P", "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (path,) = folder.glob("mergeready-*.whl")
    return ZipFile(path)


def test_the_wheel_holds_every_file_of_the_three_packages_and_nothing_else(wheel: ZipFile) -> None:
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}

    assert inside == {name for name in kept_files() if name.startswith(tuple(f"{folder}/" for folder in PACKAGES))}


def test_the_wheel_asks_for_a_light_set_of_libraries_and_for_torch_only_with_an_extra(wheel: ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    needs = [Requirement(text) for text in message_from_bytes(wheel.read(name)).get_all("Requires-Dist", [])]

    assert {
        extra: sorted(need.name for need in needs if str(need.marker or "") == marker)
        for extra, marker in (("", ""), ("models", 'extra == "models"'))
    } == {
        "": ["argcomplete", "black", "markdown-it-py", "nox", "packaging", "rich", "ruamel-yaml", "ruff"],
        "models": ["accelerate", "safetensors", "torch", "transformers"],
    }


def test_the_command_line_starts_where_torch_and_transformers_cannot_be_imported() -> None:
    code = """
import sys
for name in ("torch", "transformers", "accelerate", "safetensors", "poptorch"):
    sys.modules[name] = None
from tooling.cli import main
sys.exit(main(["rules"]))
"""
    run(sys.executable, "-P", "-c", code)


def test_the_page_of_rules_is_what_the_rules_say_now() -> None:
    written = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

    assert written == run(command("mergeready"), "rules", "--format", "markdown"), "run `nox -s docs`"


def test_every_changelog_fragment_has_a_name_that_towncrier_files() -> None:
    names = {name.removeprefix("changelog.d/") for name in kept_files() if name.startswith("changelog.d/")}
    pattern = re.compile(r"\.gitkeep|(\d+|\+[a-z0-9-]+)\.(added|changed|fixed|removed)\.md")

    assert {name for name in names if not pattern.fullmatch(name)} == set()


def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    topic = contributor(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    for words in re.findall(r"^\$ mergeready (.*?)(?: +#.*)?$", readme, re.MULTILINE):
        run(command("mergeready"), *words.split(), folder=topic)


def test_the_readme_lists_every_exit_code() -> None:
    listed = re.findall(r"^\| (\d+) \| ", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert [int(code) for code in listed] == sorted(Exit)


def test_the_readme_says_what_every_folder_is_for() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    folders = {name.partition("/")[0] for name in kept_files() if "/" in name} - {".ci"}

    assert {folder for folder in folders if f"| `{folder}/` |" not in readme} == set()


def test_every_hook_calls_a_command_that_exists() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    called = {hook["id"]: hook["entry"].split() for hook in hooks}

    assert {name: words for name, words in called.items() if words[0] != "mergeready" or words[1] not in COMMANDS} == {}


def test_ci_runs_on_every_python_that_the_package_says_it_supports(wheel: ZipFile) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    classifiers = message_from_bytes(wheel.read(name)).get_all("Classifier", [])

    assert workflow["jobs"]["tests"]["strategy"]["matrix"]["python"] == [
        words.rpartition(" ")[2] for words in classifiers if re.search(r":: 3\.\d+$", words)
    ]


def test_ci_and_hooks_run_sessions_that_the_noxfile_defines() -> None:
    listed = run(command("nox"), "--noxfile", str(ROOT / "noxfile.py"), "--list")
    asked = set()
    for path in (
        *(ROOT / ".github" / "workflows").glob("*.yml"),
        ROOT / ".pre-commit-config.yaml",
        ROOT / ".ci" / "run",
    ):
        text = path.read_text(encoding="utf-8")
        asked |= set(re.findall(r"nox -s ([a-z-]+)", text))
        asked |= {name for names in re.findall(r"session: \[(.*)\]", text) for name in names.split(", ")}

    assert asked - set(re.findall(r"^[*-] ([a-z-]+)", listed, re.MULTILINE)) == set()


def contributor(folder: Path) -> Path:
    """A clone as a contributor has it: remotes `upstream` and `origin`, its fork, and a topic branch of one commit."""
    for remote in ("upstream", "fork"):
        run("git", "init", "--quiet", "--bare", str(folder / remote))
    work = folder / "work"
    run("git", "init", "--quiet", str(work))
    for name, remote in (("upstream", "upstream"), ("origin", "fork")):
        run("git", "remote", "add", name, f"../{remote}", folder=work)
    for branch, name in (("main", "library.py"), ("topic", "more.py")):
        (work / name).write_text("", encoding="utf-8")
        run("git", "switch", "--quiet", "--force-create", branch, folder=work)
        run("git", "add", "--all", folder=work)
        run("git", "commit", "--quiet", "--message", f"Say in {name} how models are loaded", folder=work)
        if branch == "main":
            run("git", "push", "--quiet", "upstream", branch, folder=work)
            run("git", "push", "--quiet", "origin", branch, folder=work)
    return work


def kept_files() -> set[str]:
    """The files that git tracks, and new ones that it does not ignore, as far as they exist."""
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return {name for name in names if (ROOT / name).is_file()}


def command(name: str) -> str:
    """The path of a console script of the environment that runs the tests."""
    (path,) = Path(sys.executable).parent.glob(f"{name}{'.exe' if sys.platform == 'win32' else ''}")
    return str(path)


def run(*words: str, folder: Path = ROOT) -> str:
    """What a command prints when it runs in a folder; the test fails where it does."""
    done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout
