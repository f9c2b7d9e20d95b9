"""Every command and what it is for, in the order of the help; the module of a command has its name."""

COMMANDS = {
    "check": "find what breaks the repository's own rules, and mend it",
    "fixup": "lint, format and check --fix the files that you changed",
    "rules": "list the rules",
    "explain": "say what a rule, a code or a finding means",
    "baseline": "accept findings as they are, or forget acceptances that nothing needs",
    "rebase": "replay your branch on upstream",
    "continue": "go on with what stopped, once you have resolved it",
    "skip": "leave out the commit that a rebase stands at, and go on",
    "abort": "take back what stopped",
    "status": "show where things stand, and what to run next",
    "push": "push your branch to your fork, never over somebody's work",
    "sync": "bring your fork's main branch up to date",
    "undo": "take back the last command",
    "refs-check": "find references to issues, people and commits in a message",
    "pr": "judge a pull request by its checklist, from evidence",
    "plan": "show how a model would be spread over IPUs, what each carries and what crosses",
    "tests": "run tests, and record how it went for exactly this tree",
}
