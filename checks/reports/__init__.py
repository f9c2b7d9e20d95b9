"""Ways to write an outcome down: for people, for programs, for GitHub and for code scanning."""

FORMATS = ("human", "json", "github", "sarif")
