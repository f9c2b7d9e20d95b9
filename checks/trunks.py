"""Where the trunk of a repository may be, the likeliest first, by full names of refs: no other can be taken for it."""

TRUNKS = tuple(
    f"refs/remotes/{remote}/{branch}" for remote in ("upstream", "origin") for branch in ("HEAD", "main", "master")
)
