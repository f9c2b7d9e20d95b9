"""Ask GitHub what an event does not tell, and put one comment where the last one was; nothing else is ever written.

PyGithub is imported here alone, and only where there is a token. Source: docs.github.com, "GitHub REST API", and its
OpenAPI description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tooling.errors import Exit, UserError
from tooling.pr.event import Request, parse_pull
from tooling.pr.pull import CheckRun

if TYPE_CHECKING:
    from github.Repository import Repository

MARK = "<!-- mergeready pr -->"
"""How our own comment begins, which is how it is found again."""
LONGEST = 65_000
"""Characters of a comment; GitHub takes 65,536."""

_TIMEOUT = 15  # seconds a request may take
_CLOSES = """\
query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) {
  pullRequest(number: $number) { closingIssuesReferences(first: 20) { nodes { number } } } } }
"""


class Access(NamedTuple):
    """Where and as whom GitHub is asked; `run` is the id of the workflow run that we are part of."""

    repository: str
    token: str
    url: str
    run: str


def find_access(environment: Mapping[str, str], request: Request) -> Access | None:
    """The access that a workflow gives us; None where it gives no token, or the repository is not known."""
    token = environment.get("GITHUB_TOKEN", "")
    repository = environment.get("GITHUB_REPOSITORY", "") or request.repository
    if not token or not repository:
        return None
    url = environment.get("GITHUB_API_URL", "") or "https://api.github.com"
    return Access(repository, token, url, environment.get("GITHUB_RUN_ID", ""))


def refresh(access: Access, request: Request) -> Request:
    """The request as it is now: a payload keeps what was written when the event happened, through every re-run.

    The commits stay those of the event, for they are what was checked out. UserError where GitHub does
    not answer.
    """
    if request.absent or not (request.number or request.head):
        return request
    with _answers(access) as repository:
        pulls = () if request.number else repository.get_commit(request.head).get_pulls()
        number = next((pull.number for pull in pulls), request.number)
        if not number:
            return request
        found = parse_pull(repository.get_pull(number).raw_data)
        closes = _closed_issues(repository, access.repository, number)
    return found._replace(
        event=request.event,
        head=request.head or found.head,
        base=request.base or found.base,
        default_branch=request.default_branch or found.default_branch,
        source="the API",
        closes=closes,
    )


def checks_of(access: Access, commit: str) -> tuple[CheckRun, ...]:
    """What other workflows and services report for a commit; our own run is left out, for it waits for us.

    UserError where GitHub does not answer.
    """
    own = f"/actions/runs/{access.run}/"
    with _answers(access) as repository:
        looked_at = repository.get_commit(commit)
        runs = [
            CheckRun(run.name, run.conclusion or "")
            for run in looked_at.get_check_runs()
            if not (access.run and own in (run.details_url or ""))
        ]
        statuses = [
            CheckRun(status.context, "" if status.state == "pending" else status.state)
            for status in looked_at.get_combined_status().statuses
        ]
    return (*runs, *statuses)


def put_comment(access: Access, number: int, text: str) -> str:
    """Write the comment, over our last one where there is one; return its address. UserError where that is refused."""
    body = f"{MARK}\n{text}"[:LONGEST]
    with _answers(access) as repository:
        issue = repository.get_issue(number)
        for comment in issue.get_comments():
            # Anyone can write our mark, so it has to be a bot's comment as well.
            if comment.body.startswith(MARK) and comment.user.type == "Bot":
                comment.edit(body)
                return comment.html_url
        return issue.create_comment(body).html_url


@contextmanager
def _answers(access: Access) -> Iterator[Repository]:
    """The repository as PyGithub gives it; whatever it raises becomes one UserError."""
    try:
        from github import Auth, Github, GithubException
        from requests import RequestException
    except ImportError as error:
        hint = "install mergeready[github]"
        raise UserError("PyGithub is not installed: GitHub was not asked", hint=hint, exit=Exit.ENVIRONMENT) from error
    client = Github(
        base_url=access.url,
        auth=Auth.Token(access.token),
        timeout=_TIMEOUT,
        retry=2,
        lazy=True,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    try:
        yield client.get_repo(access.repository)
    except GithubException as error:
        raise UserError(f"GitHub answers {error.status}: {error.message}", exit=Exit.REMOTE_REFUSED) from error
    except RequestException as error:
        raise UserError(f"GitHub does not answer: {type(error).__name__}", exit=Exit.ENVIRONMENT) from error
    finally:
        client.close()


def _closed_issues(repository: Repository, full_name: str, number: int) -> tuple[int, ...] | None:
    """Numbers of the issues that a merge would close, those that were linked by hand too; None where it is not told."""
    from github import GithubException

    owner, _, name = full_name.partition("/")
    try:
        _, answer = repository.requester.graphql_query(_CLOSES, {"owner": owner, "name": name, "number": number})
    except GithubException:  # a server without this query, or a token that may not ask it
        return None
    found = (answer.get("data") or {}).get("repository") or {}
    linked = (found.get("pullRequest") or {}).get("closingIssuesReferences") or {}
    return tuple(node["number"] for node in linked["nodes"]) if "nodes" in linked else None
