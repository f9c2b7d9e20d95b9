"""Code that is marked as a copy is equal to its original, but for the replacements that its marker states.

A marker is a comment on the line above `class` or `def`, below any decorators:

    # Copied from package.module.Original.method with Original->Copy, original->copy

It names a class, a function or a method of one of the repository's packages, tests included. The clause after `with`
lists replacements `old->new`, applied in order; the left side is a regular expression, and ` all-casing` after an item
repeats it in lower and in upper case. A comment that credits another package or a web page is not a marker.

Three things are compared, each with a code of its own: the body, the parameters of a function or the bases of a class,
and the decorators. Return annotations, line ends and markers inside the code are not compared. A clause may make names
longer, so under one it is statements that are compared and not lines, and where brackets differ the repository's own
formatter, black or ruff, decides. A method that is copied as a static method or as a function may call its object as
it likes. Options:

- `blank-lines` is `compare`, `ignore`, or `auto`: blank lines count where the library's own script counts them, which
  is in diffusers and transformers 4.
- `documenting` lists globs of decorators that only document; those are not compared.
- `whole-files` is a table of files that are copies of other files, to the letter.

`# Ignore copy` anywhere in a method of a copied class, or in the comments above it, leaves that method out; among
other statements it leaves out all of them up to the next method. `# End copy`, indented like the body, ends what is
compared.

A copy of a copy is held against what the copy in the middle has to be, so that one fix reaches the end of a chain. The
fix replaces what differs, keeps the rest, and writes nothing that does not parse. It leaves to you: bases, decorators,
circles, and parameters that would break a call or need a name which the file does not have.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.copies import examples, hygiene
from checks.copies.compare import Comparer
from checks.copies.resolve import Resolver
from checks.copies.review import review
from checks.copies.survey import survey
from checks.copies.triage import triage
from checks.copies.whole_files import compare_files
from checks.errors import CheckError
from checks.index import Index
from checks.model import Findings

CODES: Mapping[str, str] = {
    "body": "A copy differs from its original; the line is the first that does.",
    "signature": "A copy has other parameters, annotations, defaults or bases than its original.",
    "decorators": "A copy has other decorators than its original.",
    "target": "A marker names no class or function, or not in that scope.",
    "clause": "A part of a replacement clause is not understood.",
    "no-effect": "A replacement changes nothing, because the original does not hold what is to be replaced.",
    "near-miss": "A comment is meant to be a marker and is not spelt or placed like one, so other tools pass it by.",
    "copy-of-copy": "A marker names code that is a copy itself, where it could name the original.",
    "cycle": "Copies lead back to themselves, so that none of them is the original.",
    "self": "A marker names the code that it stands above.",
    "unparsable": "What the clause makes of the original is not valid Python.",
}
FIXABLE = ("body", "signature", "clause", "no-effect", "near-miss")
EXAMPLES = examples.EXAMPLES
OPTIONS: Mapping[str, object] = {"blank-lines": "auto", "documenting": ("*docstring*",), "whole-files": {"": ""}}


def check(index: Index) -> Findings:
    """Report copies that differ from their originals, and markers that cannot be followed."""
    settings = index.settings
    resolver = Resolver(index)
    comparer = Comparer(
        index,
        ignored=settings.option("copied-code", "documenting", OPTIONS["documenting"]),
        blank=_compares_blank_lines(index),
    )
    copies, strays = survey(index, resolver)
    yield from (hygiene.stray(index, each) for each in strays)
    chains = yield from triage(index, comparer, resolver, copies)
    yield from review(index, comparer, chains)
    whole = settings.option("copied-code", "whole-files", {})
    yield from compare_files(index, whole)
    return len(copies) + len(strays) + len(whole)


def _compares_blank_lines(index: Index) -> bool:
    """What the settings say, else what the library's own script does."""
    asked = index.settings.option("copied-code", "blank-lines", "auto")
    if asked not in ("auto", "compare", "ignore"):
        raise CheckError(f"blank-lines of copied-code must be auto, compare or ignore, not {asked!r}")
    if asked == "auto":
        return index.settings.profile.name in ("diffusers", "transformers-4")
    return bool(asked == "compare")
