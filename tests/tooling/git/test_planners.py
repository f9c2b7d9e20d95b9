"""Planners are functions from facts to a plan: values in, values out, no git."""

from __future__ import annotations

import pytest

from tooling.git.matching import match
from tooling.git.plan import Move, Plan, RefusedError, Step
from tooling.git.push import Allowed, Pushing, moved_meanwhile, plan_push, refusal
from tooling.git.rebase import REBASE, plan_rebase
from tooling.git.replay import Difference, Replay
from tooling.git.safety import Wishes
from tooling.git.state import Change, Commit, Head, Remote, Repo, Worktree
from tooling.git.sync import Syncing, plan_realign, plan_sync

TIP, ONTO, BASE, OTHER = ("1" * 40, "2" * 40, "3" * 40, "4" * 40)
ORIGIN = Remote("origin", "git@github.com:ada/cat.git")
UPSTREAM = Remote("upstream", "https://github.com/octo/cat")
REPO = Repo(
    root="/work",
    git_dir="/work/.git",
    common_dir="/work/.git",
    version=(2, 39),
    head=Head(TIP, "refs/heads/feature"),
    refs={"refs/heads/feature": TIP, "refs/heads/main": BASE, "refs/remotes/origin/main": BASE},
    symbolic={},
    changes=(),
    remotes=(ORIGIN, UPSTREAM),
    worktrees=(Worktree("/work", TIP, "refs/heads/feature"),),
    operation=None,
    shallow=False,
    config={},
)
COMMIT = Commit(TIP, "Ada <ada@example.org>", "1", "Change it\n", (BASE,))
REPLAY = Replay(tip=TIP, onto=ONTO, base=BASE, commits=(COMMIT,), behind=2)
EDIT = REPO._replace(changes=(Change("a.txt", ".M"),))
PUSHING = Pushing(ORIGIN, "refs/heads/feature", TIP, expected=BASE, actual=BASE, mains=("main",), ahead=1)
SYNCING = Syncing("upstream", "origin", "main", "main", new=ONTO, old=BASE, missing=2)


def reason(error: pytest.ExceptionInfo[RefusedError]) -> str:
    return error.value.code


def test_a_rebase_backs_up_and_replays_by_full_ids() -> None:
    assert plan_rebase(REPO, REPLAY, "upstream/main", Wishes(), now="NOW") == Plan(
        command="rebase",
        summary="replay 1 commit of feature on upstream/main, 2 commits ahead",
        steps=(
            Step("back-up", ("update-ref", "refs/mergeready/backup/feature/NOW", TIP), "keep the branch as it is now"),
            Step("rebase", (*REBASE, "--onto", ONTO, BASE), "onto upstream/main at 2222222222"),
        ),
        moves=(Move("refs/heads/feature", TIP),),
        backup="refs/mergeready/backup/feature/NOW",
        onto=ONTO,
    )


def test_edits_are_kept_put_away_and_put_back_around_the_rebase() -> None:
    plan = plan_rebase(EDIT, REPLAY, "upstream/main", Wishes(autostash=True), now="NOW", stash=OTHER)

    assert [step.action for step in plan.steps] == ["back-up", "back-up", "put-away", "rebase", "put-back"]


def test_adopting_replays_on_the_forks_tip_first() -> None:
    adopted = REPLAY._replace(adopted=OTHER, adopted_bases=(TIP, BASE), foreign=(COMMIT._replace(oid=OTHER),))

    plan = plan_rebase(REPO, adopted, "upstream/main", Wishes(adopt=True), now="NOW")

    rebases = [step.argv[-3:] for step in plan.steps if step.action == "rebase"]
    assert rebases == [("--onto", OTHER, TIP), ("--onto", ONTO, BASE)]


def test_up_to_date_is_a_plan_without_steps() -> None:
    level = REPLAY._replace(base=ONTO)

    assert plan_rebase(REPO, level, "upstream/main", Wishes(), now="NOW") == Plan(
        "rebase", "feature is up to date with upstream/main"
    )


REFUSALS = [
    ("unrelated", REPO, REPLAY._replace(base="")),
    ("foreign-commits", REPO, REPLAY._replace(foreign=(COMMIT,), adopted=OTHER)),
    ("already-merged", REPO, REPLAY._replace(merged=True)),
    ("merges", REPO, REPLAY._replace(commits=(COMMIT._replace(parents=(BASE, OTHER)),))),
    ("dirty", EDIT, REPLAY),
    ("line-ends", EDIT, REPLAY._replace(line_ends=("a.txt",))),
    ("in-the-way", REPO, REPLAY._replace(in_the_way=("report.json",))),
    ("hidden-edits", REPO, REPLAY._replace(hidden=("local.cfg",))),
]


@pytest.mark.parametrize(("code", "repo", "replay"), REFUSALS, ids=[case[0] for case in REFUSALS])
def test_a_rebase_that_could_lose_something_is_refused(code: str, repo: Repo, replay: Replay) -> None:
    with pytest.raises(RefusedError) as error:
        plan_rebase(repo, replay, "upstream/main", Wishes(), now="NOW")

    assert reason(error) == code


def test_what_is_worth_knowing_is_a_warning() -> None:
    repo = REPO._replace(
        refs={**REPO.refs, "refs/heads/upstream/main": BASE},
        changes=(Change("sub", ".M", "S.M."),),
    )
    replay = REPLAY._replace(rewritten=True, incoming=(Difference("sub", "M", ("160000", "160000")),))

    plan = plan_rebase(repo, replay, "upstream/main", Wishes(), now="NOW")

    assert [warned.code for warned in plan.warnings] == [
        "upstream-rewritten",
        "same-name",
        "submodule",
        "submodule-moved",
    ]


def test_a_push_names_remote_and_branch_in_full_and_what_it_expects_there() -> None:
    lease = f"--force-with-lease=refs/heads/feature:{BASE}"
    argv = (
        "push",
        "--porcelain",
        "--progress",
        lease,
        "--end-of-options",
        "origin",
        "refs/heads/feature:refs/heads/feature",
    )

    plan = plan_push(PUSHING, Allowed())

    assert [step.argv for step in plan.steps] == [argv]


def test_a_new_branch_is_pushed_without_force() -> None:
    plan = plan_push(PUSHING._replace(expected="", actual=""), Allowed())

    assert [step.argv[3] for step in plan.steps] == ["--set-upstream"]


NO_PUSH = [
    ("to-main", PUSHING._replace(mains=("feature",))),
    ("no-fork", PUSHING._replace(forked=False)),
    ("foreign-commits", PUSHING._replace(foreign=(COMMIT,))),
    ("empty-branch", PUSHING._replace(ahead=0)),
]


@pytest.mark.parametrize(("code", "pushing"), NO_PUSH, ids=[case[0] for case in NO_PUSH])
def test_a_push_that_would_hurt_somebody_is_refused(code: str, pushing: Pushing) -> None:
    with pytest.raises(RefusedError) as error:
        plan_push(pushing, Allowed())

    assert reason(error) == code


def test_a_remote_that_is_not_as_it_was_seen_says_in_which_way() -> None:
    assert [moved_meanwhile(PUSHING._replace(actual=actual)) for actual in (BASE, OTHER, "")] == [
        "",
        "stale: feature on origin has moved to 4444444444, which you have not seen yet",
        "feature is gone on origin: was its pull request merged or closed?",
    ]


CAUSES = [
    ("!\tx:refs/heads/x\t[remote rejected] (hook declined)\n", "remote: GH013\n", False, "protected"),
    ("!\tx:refs/heads/x\t[rejected] (stale info)\n", "", True, "stale"),
    ("!\tx:refs/heads/x\t[rejected] (non-fast-forward)\n", "", True, "rejected"),
    ("To up\n", "error: failed to push some refs\n", True, "hook"),
    ("", "fatal: unable to access\n", False, "unreachable"),
]


@pytest.mark.parametrize(("porcelain", "errors", "hook", "code"), CAUSES, ids=[case[3] for case in CAUSES])
def test_a_push_that_failed_says_why(porcelain: str, errors: str, hook: bool, code: str) -> None:
    assert refusal(porcelain, errors, hook)[0] == code


def test_a_sync_pushes_upstreams_tip_and_moves_the_local_main_branch() -> None:
    plan = plan_sync(REPO, SYNCING, now="NOW")

    assert [(step.action, step.argv) for step in plan.steps] == [
        ("back-up", ("update-ref", "refs/mergeready/backup/main/NOW", BASE)),
        ("push", ("push", "--porcelain", "--progress", "--end-of-options", "origin", f"{ONTO}:refs/heads/main")),
        ("move", ("update-ref", "refs/heads/main", ONTO, BASE)),
    ]


def test_a_local_main_branch_of_ones_own_stays() -> None:
    repo = REPO._replace(refs={**REPO.refs, "refs/heads/main": OTHER})

    plan = plan_sync(repo, SYNCING._replace(local_follows=False), now="NOW")

    assert ([step.action for step in plan.steps], [warned.code for warned in plan.warnings]) == (
        ["push"],
        ["local-main"],
    )


NO_SYNC = [("unrelated", SYNCING._replace(roots=(COMMIT, COMMIT))), ("diverged", SYNCING._replace(own=(COMMIT,)))]


@pytest.mark.parametrize(("code", "syncing"), NO_SYNC, ids=[case[0] for case in NO_SYNC])
def test_a_sync_that_would_drop_something_is_refused(code: str, syncing: Syncing) -> None:
    with pytest.raises(RefusedError) as error:
        plan_sync(REPO, syncing, now="NOW")

    assert reason(error) == code


def test_realigning_keeps_the_old_tip_in_the_same_push() -> None:
    plan = plan_realign(SYNCING._replace(own=(COMMIT,)), now="NOW")

    assert plan.steps[-1].argv == (
        *(
            "push",
            "--porcelain",
            "--progress",
            "--atomic",
            f"--force-with-lease=refs/heads/main:{BASE}",
            "--end-of-options",
        ),
        *("origin", f"{BASE}:refs/heads/mergeready-backup/main-NOW", f"{ONTO}:refs/heads/main"),
    )


def test_commits_are_paired_by_author_date_and_message_and_the_rest_is_dropped() -> None:
    old = [COMMIT, COMMIT._replace(oid=BASE, date="2"), COMMIT._replace(oid=ONTO, date="3", message="x")]
    new = [COMMIT._replace(oid="a"), COMMIT._replace(oid="b", date="3", message="edited on the way")]

    matched = match(old, new)

    assert ([(left.oid, right.oid) for left, right in matched.kept], [commit.oid for commit in matched.dropped]) == (
        [(TIP, "a"), (ONTO, "b")],
        [BASE],
    )
