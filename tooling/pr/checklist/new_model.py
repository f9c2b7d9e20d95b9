"""A new model also has a page in the docs, an entry in their contents, tests, a registration and a conversion script.

A model is new where every file of its folder is: `models/<name>/` of transformers, `pipelines/<name>/` and
`modular_pipelines/<name>/` of diffusers.
The conversion script is asked for mildly, for a model whose weights were published in the library's format needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {
    "incomplete": "A new model lacks something that the library asks of each.",
    "unconverted": "A new model has no conversion script, and nothing else is missing.",
    "complete": "Every new model has all that the library asks for.",
    "none": "The branch adds no model, or the layout of the library is not one that we know.",
}
BOX = "A new model has a docs page and its entry, tests, a registration and a conversion script."
ALIASES = ()
OPTIONS: dict[str, object] = {}
READS = "change"


class Part(NamedTuple):
    """Something that a model needs: a file that one of `paths` matches, which holds `text` where that is not empty.

    `{name}` stands for the folder of the model, `{package}` for that of the library.
    """

    what: str
    paths: tuple[str, ...]
    text: str = ""


class Layout(NamedTuple):
    """Where the models of a library are, and what belongs to each."""

    folder: re.Pattern[str]
    parts: tuple[Part, ...]


_CONVERSION = "conversion script"
_TRANSFORMERS = Layout(
    re.compile(r".*/models/(\w+)/(?:modeling|modular)_\w+\.py"),
    (
        Part("page in the docs", ("docs/source/en/model_doc/{name}.md", "docs/source/en/model_doc/{name}.mdx")),
        Part("entry in the table of contents", ("docs/source/en/_toctree.yml",), "model_doc/{name}"),
        Part("tests", ("tests/models/{name}/test_*.py",)),
        Part("registration in the auto classes", ("{package}/models/auto/*.py",), '"{name}"'),
        Part(_CONVERSION, ("{package}/models/{name}/convert_*.py", "{package}/models/{name}/*weight_mapping*.py")),
    ),
)
_MODULAR = Layout(
    re.compile(r".*/modular_pipelines/(\w+)/modular_pipeline\w*\.py"),
    (
        Part("tests", ("tests/modular_pipelines/{name}/test_*.py",)),
        Part("registration in the package", ("{package}/modular_pipelines/__init__.py",), '"{name}"'),
    ),
)
_DIFFUSERS = Layout(
    re.compile(r".*/pipelines/(\w+)/pipeline_\w+\.py"),
    (
        Part("page in the docs", ("docs/source/en/api/pipelines/{name}.md",)),
        Part("entry in the table of contents", ("docs/source/en/_toctree.yml",), "api/pipelines/{name}"),
        Part("tests", ("tests/pipelines/{name}/test_*.py",)),
        Part("registration in the package", ("{package}/pipelines/__init__.py",), '"{name}"'),
        Part(_CONVERSION, ("scripts/convert*{name}*.py",)),
    ),
)
_LAYOUTS: Mapping[str, tuple[Layout, ...]] = {
    "transformers-4": (_TRANSFORMERS,),
    "transformers-5": (_TRANSFORMERS,),
    "diffusers": (_DIFFUSERS, _MODULAR),
}


def judge(pull: PullRequest) -> Decision:
    """Fail where a new model lacks what every model has, warn where only the conversion script is missing."""
    layouts = _LAYOUTS.get(pull.settings.profile.name, ())
    models = [(name, layout) for layout in layouts for name in sorted(_new_models(pull, layout))]
    if not models:
        return Decision(Verdict.SKIP, "new-model/none", "no model is new")
    lacking = [(part, name) for name, layout in models for part in layout.parts if not _has(pull, part, name)]
    evidence = tuple(Evidence(f"{name} has no {part.what}: {_place(pull, part, name)}") for part, name in lacking)
    if any(part.what != _CONVERSION for part, _ in lacking):
        message = f"missing parts of new models: {len(lacking)}"
        return Decision(Verdict.FAIL, "new-model/incomplete", message, evidence, "add them: mergeready new-model")
    if lacking:
        message = "no script converts published weights; is none needed?"
        return Decision(Verdict.WARN, "new-model/unconverted", message, evidence)
    shown = tuple(Evidence(name) for name, _ in models)
    return Decision(Verdict.PASS, "new-model/complete", "every new model is complete", shown)


def _new_models(pull: PullRequest, layout: Layout) -> Iterator[str]:
    """Names of folders that hold nothing but what the branch adds."""
    added = {change.path for change in pull.changed.changes if change.status == "A"}
    library = pull.settings.profile.library
    found = {path.rpartition("/")[0]: hit[1] for path in added if (hit := layout.folder.fullmatch(path))}
    for folder, name in found.items():
        if folder.startswith(f"{library}/") and all(
            path in added for path in pull.paths if path.startswith(f"{folder}/")
        ):
            yield name


def _has(pull: PullRequest, part: Part, name: str) -> bool:
    patterns = [_fill(pull, pattern, name) for pattern in part.paths]
    for path in pull.paths:
        if any(fnmatchcase(path, pattern) for pattern in patterns):
            content = pull.objects.read(f"{pull.changed.head}:{path}") if part.text else b""
            if part.text.replace("{name}", name).encode() in (content or b""):
                return True
    return False


def _place(pull: PullRequest, part: Part, name: str) -> str:
    return _fill(pull, part.paths[0], name)


def _fill(pull: PullRequest, pattern: str, name: str) -> str:
    return pattern.replace("{name}", name).replace("{package}", pull.settings.profile.library)
