"""Every command and what it is for, in the order of the help; the module of a command has its name."""

COMMANDS = {
    "check": "find what breaks the repository's own rules, and mend it",
    "fixup": "lint, format and check --fix the files that you changed",
    "rules": "list the rules",
    "explain": "say what a rule, a code or a finding means",
    "baseline": "accept findings as they are, or forget acceptances that nothing needs",
}
