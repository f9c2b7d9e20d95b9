"""The examples of the rule `copied_code`."""

from __future__ import annotations

from collections.abc import Mapping

from checks.model import Example

_BERT = """\
class Bert:
    def forward(self, x, scale=1):
        hidden = self.layer(x)
        return hidden * scale
"""
_ROBERTA = """\
# Copied from lib.bert.Bert with Bert->Roberta
class Roberta:
    def forward(self, x, scale=1):
        hidden = self.layer(x)
        return hidden * scale
"""


def _library(**modules: str) -> Mapping[str, str]:
    return {"lib/__init__.py": "", **{f"lib/{name}.py": text for name, text in modules.items()}}


EXAMPLES = (
    Example("a faithful copy", tree=_library(bert=_BERT, roberta=_ROBERTA)),
    Example(
        "one line of a copy differs",
        tree=_library(bert=_BERT, roberta=_ROBERTA.replace("* scale", "+ scale")),
        says=("lib/roberta.py:5 copied-code/body",),
        mended={"lib/roberta.py": _ROBERTA},
    ),
    Example(
        "a copy that lost a default",
        tree=_library(
            a='def slice(size="auto", *, axis=0):\n    return size\n',
            b="# Copied from lib.a.slice\ndef slice(size, *, axis=0):\n    return size\n",
        ),
        says=("lib/b.py:2 copied-code/signature",),
        mended={"lib/b.py": '# Copied from lib.a.slice\ndef slice(size="auto", *, axis=0):\n    return size\n'},
    ),
    Example(
        "a copy without the decorator",
        tree=_library(
            a="class A:\n    @property\n    def size(self):\n        return 1\n",
            b="class B:\n    # Copied from lib.a.A.size\n    def size(self):\n        return 1\n",
        ),
        says=("lib/b.py:3 copied-code/decorators",),
    ),
    Example(
        "a method that the class lacks and the next class has",
        tree=_library(
            a="class A:\n    x = 1\n\n\nclass Other:\n    def f(self):\n        return 1\n",
            b="class B:\n    # Copied from lib.a.A.f\n    def f(self):\n        return 1\n",
        ),
        says=("lib/b.py:2 copied-code/target",),
    ),
    Example(
        "spaces round the arrow",
        tree=_library(
            a="def f(image):\n    return image\n",
            b="# Copied from lib.a.f with image -> video\ndef f(video):\n    return video\n",
        ),
        says=("lib/b.py:1 copied-code/clause",),
        mended={"lib/b.py": "# Copied from lib.a.f with image->video\ndef f(video):\n    return video\n"},
    ),
    Example(
        "a replacement of something that is not there",
        tree=_library(
            a="def f(image):\n    return image\n",
            b="# Copied from lib.a.f with Bert->Roberta, image->video\ndef f(video):\n    return video\n",
        ),
        says=("lib/b.py:1 copied-code/no-effect",),
        mended={"lib/b.py": "# Copied from lib.a.f with image->video\ndef f(video):\n    return video\n"},
    ),
    Example(
        "a marker in lower case on a faithful copy",
        tree=_library(a="def f():\n    return 1\n", b="# copied from lib.a.f\ndef f():\n    return 1\n"),
        says=("lib/b.py:1 copied-code/near-miss",),
        mended={"lib/b.py": "# Copied from lib.a.f\ndef f():\n    return 1\n"},
    ),
    Example(
        "a marker above a decorator",
        tree=_library(
            a="@cache\ndef f():\n    return 1\n",
            b="# Copied from lib.a.f\n@cache\ndef f():\n    return 2\n",
        ),
        says=("lib/b.py:1 copied-code/near-miss", "lib/b.py:4 copied-code/body"),
        mended={"lib/b.py": "@cache\n# Copied from lib.a.f\ndef f():\n    return 1\n"},
    ),
    Example(
        "a chain of copies whose beginning was edited",
        tree=_library(
            a="def f():\n    return 2\n",
            b="# Copied from lib.a.f\ndef f():\n    return 1\n",
            c="# Copied from lib.b.f\ndef f():\n    return 1\n",
        ),
        says=("lib/b.py:3 copied-code/body", "lib/c.py:1 copied-code/copy-of-copy", "lib/c.py:3 copied-code/body"),
        mended={
            "lib/b.py": "# Copied from lib.a.f\ndef f():\n    return 2\n",
            "lib/c.py": "# Copied from lib.b.f\ndef f():\n    return 2\n",
        },
    ),
    Example(
        "copies of each other",
        tree=_library(
            a="# Copied from lib.b.f\ndef f():\n    return 1\n",
            b="# Copied from lib.a.f\ndef f():\n    return 2\n",
        ),
        says=("lib/a.py:1 copied-code/cycle", "lib/b.py:1 copied-code/cycle"),
    ),
    Example(
        "a copy of itself",
        tree=_library(a="# Copied from lib.a.f\ndef f():\n    return 1\n"),
        says=("lib/a.py:1 copied-code/self",),
    ),
    Example(
        "a replacement that is no Python",
        tree=_library(
            a="def f(x):\n    return x\n",
            b="# Copied from lib.a.f with return->!\ndef f(x):\n    return x\n",
        ),
        says=("lib/b.py:3 copied-code/unparsable",),
    ),
    Example(
        "a method that the copy keeps for itself, and another that drifted",
        tree=_library(
            bert=_BERT + "\n    def size(self):\n        return 1\n",
            roberta=_ROBERTA.replace("* scale", "+ scale")
            + "\n    # Ignore copy\n    def size(self):\n        return 2\n",
        ),
        says=("lib/roberta.py:5 copied-code/body",),
        mended={"lib/roberta.py": _ROBERTA + "\n    # Ignore copy\n    def size(self):\n        return 2\n"},
    ),
    Example(
        "a file that is a copy of another",
        tree={"lib/__init__.py": "", "one/qa.py": "x = 1\n", "two/qa.py": "x =  1\n"},
        settings={"rules": {"copied-code": {"whole-files": {"two/qa.py": "one/qa.py"}}}},
        says=("two/qa.py:1 copied-code/body",),
        mended={"two/qa.py": "x = 1\n"},
    ),
)
