"""Ways to write a checklist down: for people, for programs, for the log of a workflow, and for a page on GitHub."""

FORMATS = ("human", "json", "github", "markdown")
