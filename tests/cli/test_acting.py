"""`layover answer`, `approve`, `reject`, `pause`, `resume`, `cancel`, `retry`, `rewind`, `signal`.

Each is durable before it is over, and takes effect when an instance goes on with the execution.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from layover import Engine
from tests.cli.conftest import go_on

if TYPE_CHECKING:
    from tests.cli.conftest import Run

UNKNOWN = "00000000-0000-4000-8000-00000000dead"
NODES = ("--nodes", "nodes.py")


def _status(cli: Run, id_: str) -> object:
    return cli("show", id_, "--json").json["status"]


@pytest.fixture
def reviewed(cli: Run, waiting: str) -> str:
    """The id of an execution that waits for an approval."""
    assert cli("answer", waiting, '{"size": 2}').code == 0
    assert go_on(cli, waiting).code == 10
    return waiting


def test_an_answer_is_stored_and_says_when_it_is_applied(cli: Run, waiting: str) -> None:
    code, out, err = cli("answer", f"{waiting}:size", '{"size": 2}', "--by", "ada")
    assert (code, out) == (0, f"{waiting}:size is answered by ada.\n")
    assert "No instance is running" in err
    assert "layover worker --db sqlite:///layover.db" in err
    assert not Path("layover.db-instances").exists()
    assert go_on(cli, waiting).code == 10


async def test_a_running_instance_applies_an_answer(tmp_path: Path) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'app.db'}") as engine:
        await engine.register({"name": "f", "nodes": [{"id": "ask", "type": "form", "title": "t", "schema": {}}]})
        id_ = (await engine.start("f", until="rest")).id
        words = ["answer", id_, "5", "--db", str(tmp_path / "app.db")]
        command = await asyncio.create_subprocess_exec(
            ".venv/bin/layover", *words, stdout=-1, stderr=-1, cwd=Path(__file__).parents[2]
        )
        _, err = await command.communicate()
        assert (command.returncode, err) == (0, b"A running instance applies it at its next step.\n")
        assert await (await engine.execution(id_)).result() == 5


async def test_a_pause_shows_the_state_after_a_running_instance_has_applied_it(tmp_path: Path) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'app.db'}") as engine:
        await engine.register({"name": "f", "nodes": [{"id": "wait", "type": "delay", "duration": "1h"}]})
        id_ = (await engine.start("f", until="rest")).id
        command = await asyncio.create_subprocess_exec(
            ".venv/bin/layover",
            *("pause", id_, "--db", str(tmp_path / "app.db")),
            stdout=-1,
            stderr=-1,
            cwd=Path(__file__).parents[2],
        )
        out, err = await command.communicate()
        assert (out.decode(), err) == (f"Pause of {id_} is stored; it is paused.\n", b"")


def test_a_point_is_named_by_its_own_id_too(cli: Run, waiting: str) -> None:
    assert waiting
    (item,) = cli("inbox", "--json").json["items"]
    told = cli("answer", item["id"], '{"size": 2}', "--json").json
    assert told["status"] in ("answered", "applied"), "a server may have taken it up by now"


def test_an_answer_is_taken_back_until_it_is_final(cli: Run) -> None:
    Path("undo.yaml").write_text("name: undo\nnodes:\n  - {id: ok, type: approval, undo: 1h}\n", encoding="utf-8")
    id_ = cli("run", "undo.yaml", "--json").id
    assert "has not answered here" in cli("take-back", f"{id_}:ok", "--by", "ada").err
    assert cli("approve", id_, "--by", "ada").code == 0
    cli("run", "undo.yaml", "--id", id_)
    assert "can be taken back" in cli("why", id_).out
    code, out, _ = cli("take-back", id_, "--by", "ada", "--reason", "the wrong one")
    assert (code, out) == (0, f"The answer to {id_}:ok is taken back.\n")
    cli("run", "undo.yaml", "--id", id_)
    assert [one["status"] for one in cli("inbox", "--json").json["items"]] == ["open"]


def test_an_answer_to_what_was_not_seen_is_refused(cli: Run, waiting: str) -> None:
    (item,) = cli("inbox", "--json").json["items"]
    refused = cli("answer", waiting, '{"size": 2}', "--seen", "0" * 64)
    assert (refused.code, "is not what you had seen" in refused.err) == (4, True)
    assert cli("answer", waiting, '{"size": 2}', "--seen", item["view"], "--json").json["seen"] == item["view"]


def test_data_may_begin_with_a_dash_and_options_may_follow(cli: Run) -> None:
    Path("number.yaml").write_text("name: number\nnodes: [{id: ask, type: form, title: t, schema: {type: integer}}]\n")
    id_ = cli("run", "number.yaml", "--json").id
    assert cli("answer", id_, "-5", "--by", "ada", "--json").json["answer"] == -5


def test_an_answer_that_does_not_fit_changes_nothing(cli: Run, waiting: str) -> None:
    code, out, err = cli("answer", waiting, '{"size": 0}')
    assert (code, out) == (2, "")
    assert "  size: 0 is less than the minimum of 1" in err.splitlines()
    assert cli("answer", waiting, '{"size": 1}').code == 0
    code, _, err = cli("answer", f"{waiting}:size", '{"size": 1}')
    assert code == 4
    assert "answered already" in err


def test_only_a_user_with_the_role_decides(cli: Run, reviewed: str) -> None:
    code, _, err = cli("approve", reviewed, "--by", "ada")
    assert code == 2
    assert "Say who you are with --by and --role." in err
    assert cli("approve", reviewed, "--by", "ada", "--role", "boss", "--comment", "fine").code == 0
    assert go_on(cli, reviewed).code == 0
    assert "    approved by ada: fine" in cli("show", reviewed).out.splitlines()


def test_a_rejection_is_one(cli: Run, reviewed: str) -> None:
    assert cli("reject", reviewed, "--role", "boss", "--comment", "-too small").code == 0
    code, out, _ = go_on(cli, reviewed)
    assert (code, out.splitlines()[-2]) == (0, f"{reviewed} completed: refused (-too small)")


def test_a_form_is_not_approved_and_an_approval_is_not_answered(cli: Run, waiting: str) -> None:
    code, _, err = cli("approve", waiting)
    assert code == 4
    assert "asks for an answer, not for a decision" in err
    cli("answer", waiting, '{"size": 2}')
    go_on(cli, waiting)
    code, _, err = cli("answer", waiting, "{}", "--role", "boss")
    assert code == 4
    assert "`layover approve` or `layover reject`" in err


def test_an_answer_has_to_name_one_of_several_open_points(cli: Run) -> None:
    ask = "[{id: ask, type: form, title: t, schema: {}}]"
    Path("two.yaml").write_text(
        "name: two\nnodes:\n  - id: both\n    type: parallel\n    branches:\n"
        f"      - {{id: left, body: {ask}}}\n      - {{id: right, body: {ask}}}\n"
    )
    id_ = cli("run", "two.yaml", "--json").id
    code, _, err = cli("answer", id_, "1")
    assert code == 2
    assert f"  {id_}:ask:both.left" in err.splitlines()
    assert cli("answer", f"{id_}:ask:both.left", "1").code == 0
    assert cli("answer", f"{id_}:ask:both.middle", "1").code == 3
    assert cli("answer", id_, "2").code == 0
    code, out, _ = go_on(cli, id_, "two.yaml")
    assert (code, out.splitlines()[-1]) == (0, 'output: {"left":1,"right":2}')


def test_what_a_running_function_asks_is_answered_under_its_key(cli: Run) -> None:
    Path("other_asks.py").write_text(
        "from layover import NodeContext\n"
        "async def order(ctx: NodeContext) -> object:\n    return await ctx.ask('size', int, title='Which size?')\n"
    )
    Path("asks.yaml").write_text("name: asks\nnodes: [{id: work, type: order}]\n")
    ran = cli("run", "asks.yaml", "--nodes", "other_asks.py", "--json")
    assert ran.code == 10
    assert f"{ran.id}:work/size  form" in cli("inbox").out.splitlines()
    assert cli("answer", f"{ran.id}:work/size", "4").out.startswith(f"{ran.id}:work/size is answered")
    ended = cli("run", "asks.yaml", "--nodes", "other_asks.py", "--id", ran.id)
    assert ended.out.splitlines()[-1] == "output: 4"


def test_a_signal_is_not_answered(cli: Run) -> None:
    Path("signal.yaml").write_text("name: signal\nnodes: [{id: a, type: wait_signal, signal: paid}]\n")
    id_ = cli("run", "signal.yaml", "--json").id
    code, _, err = cli("answer", id_, "1")
    assert code == 4
    assert "asks for no answer" in err
    code, _, err = cli("answer", f"{id_}:a", "1")
    assert code == 4
    assert "layover signal" in err


def test_a_signal_reaches_the_execution_that_waits_for_it(cli: Run) -> None:
    Path("signal.yaml").write_text("name: signal\nnodes: [{id: a, type: wait_signal, signal: paid, key: k1}]\n")
    ran = cli("run", "signal.yaml", "--json")
    code, out, _ = cli("signal", "paid", "other")
    assert code == 0
    assert out.endswith("no execution waits for it yet.\n")
    code, out, _ = cli("signal", "paid", "k1", "--data", '{"n": 1}', "--id", "once")
    assert (code, out) == (0, f"The signal once reached 1 execution:\n  {ran.id}\n")
    assert cli("signal", "paid", "k1", "--id", "once").out == "The signal once was sent before; nothing is changed.\n"
    assert cli("signal", "paid", "k1", "--json").json["repeated"] is False
    assert go_on(cli, ran.id, "signal.yaml").code == 0
    assert cli("signal", "").code == 2


def test_a_pause_can_end_by_itself(cli: Run, waiting: str) -> None:
    assert cli("pause", waiting, "--until-cron", "0 0 * * *", "--zone", "Europe/Berlin").code == 0
    go_on(cli, waiting)
    assert cli("show", waiting, "--json").json["resume_at"] is not None
    assert cli("resume", waiting, "--only-by-hand", "--cron", "@daily").code == 2
    assert cli("resume", waiting, "--only-by-hand").code == 0
    go_on(cli, waiting)
    assert cli("show", waiting, "--json").json["resume_at"] is None
    paused = cli("pause", waiting, "--until-signal", "paid", "--signal-key", "k1", "--signal-filter", "signal.data > 1")
    assert paused.code == 0
    go_on(cli, waiting)
    assert cli("show", waiting, "--json").json["resume_on"] == {
        "signal": "paid",
        "key": "k1",
        "filter": "signal.data > 1",
    }
    assert cli("resume", waiting, "--signal-key", "k1").code == 2
    assert cli("resume", waiting, "--on", "paid", "--signal-filter", "signal.dota").code == 2
    assert cli("resume", waiting, "--on", "paid").code == 0
    go_on(cli, waiting)
    assert cli("signal", "paid").out.endswith(f"reached 1 execution:\n  {waiting}\n")
    go_on(cli, waiting)
    assert cli("show", waiting, "--json").json["resume_on"] is None
    code, _, err = cli("resume", waiting, "--at", "tomorrow")
    assert (code, "--at: `tomorrow` is not a moment" in err) == (2, True)


def test_an_operator_pauses_and_resumes(cli: Run, waiting: str) -> None:
    code, out, _ = cli("pause", waiting, "--reason", "lunch", "--by", "op")
    assert (code, out) == (0, f"Pause of {waiting} is stored; it is paused.\n")
    go_on(cli, waiting)
    assert "paused: lunch" in cli("show", waiting).out.splitlines()
    assert cli("resume", waiting, "--data", "5").code == 2
    assert cli("resume", waiting, "--data", '{"note": 1}').code == 0
    go_on(cli, waiting)
    assert cli("show", waiting, "--json").json["variables"] == {"note": 1}
    code, _, err = cli("resume", waiting)
    assert code == 4
    assert "No operator has paused it" in err


def test_a_cancelled_execution_is_over(cli: Run, waiting: str) -> None:
    assert cli("cancel", waiting, "--reason", "enough").code == 0
    code, out, _ = go_on(cli, waiting)
    assert code == 1
    assert out.splitlines()[-1].startswith(f"{waiting} cancelled")
    code, _, err = cli("cancel", waiting)
    assert code == 4
    assert "The execution is cancelled." in err


def test_a_failed_execution_is_tried_again_and_given_back(cli: Run) -> None:
    id_ = cli("run", "breaking.yaml", *NODES, "--input", '{"message": "x"}', "--json").id
    code, out, _ = cli("retry", id_)
    assert code == 0
    # A server that lacks the function gives it back at once.
    assert out in (f"Retry of {id_} is stored; it is running.\n", f"Retry of {id_} is stored; it is waiting.\n")
    assert _status(cli, id_) in ("running", "waiting")
    Path("nodes.py").write_text("def break_down(message): return message\n")
    assert go_on(cli, id_, "breaking.yaml").code == 0
    assert cli("retry", id_).code == 4
    assert cli("verify").code == 0


def test_an_execution_goes_back_to_a_node(cli: Run, reviewed: str) -> None:
    planned = cli("rewind", reviewed, "size", "--dry-run")
    assert (planned.code, planned.err) == (0, "")
    assert planned.out.splitlines()[2:] == [
        "Points closed: review",
        "Called again: none",
        "Variables taken back: none",
        "Nothing was changed.",
    ]
    assert cli("retry", reviewed, "--dry-run").code != 0
    assert cli("rewind", reviewed, "size", "--reason", "wrong size").code == 0
    go_on(cli, reviewed)
    assert cli("answer", reviewed, '{"size": 9}').code == 0
    go_on(cli, reviewed)
    assert cli("approve", reviewed, "--role", "boss").code == 0
    assert go_on(cli, reviewed).out.splitlines()[-1] == 'output: {"greeting":"hello Ada","size":9}'
    assert cli("rewind", reviewed, "hello").code == 0
    assert _status(cli, reviewed) in ("running", "waiting")  # a server that lacks the function gives it back
    assert cli("rewind", reviewed, "nowhere").code == 3
    assert cli("verify").code == 0


def test_a_fork_begins_with_the_results_of_its_origin(cli: Run, reviewed: str) -> None:
    planned = cli("fork", reviewed, "--from", "review", "--dry-run")
    assert planned.out.splitlines()[1:] == [
        "Repeated: review",
        "Results dropped: none",
        "Called again: none",
        "Nothing was changed.",
    ]
    after_event = cli("fork", reviewed, "--from", "1", "--dry-run", "--json").json
    assert (after_event["at"], after_event["superseded"]) == (1, [])
    assert cli("fork", reviewed, "--from", "999").code == 2
    assert cli("fork", reviewed, "--from", "nowhere").code == 3
    made = cli("fork", reviewed, "--from", "review", "--reason", "again", "--json").json
    assert made["forked_from"] == reviewed
    go_on(cli, made["id"])
    assert cli("approve", made["id"], "--role", "boss").code == 0
    assert go_on(cli, made["id"]).code == 0
    assert _status(cli, reviewed) == "paused"
    assert cli("verify").code == 0


_WAITING = """
name: hurried
nodes:
  - {id: nap, type: delay, duration: 3d, next: bad}
  - {id: bad, type: break_down, input: {message: x}, retry: {max_attempts: 9, delay: 1d, max_delay: 1d}}
"""


def test_a_delay_is_run_now_and_a_retry_is_listed_and_cancelled(cli: Run) -> None:
    Path("hurried.yaml").write_text(_WAITING)
    id_ = cli("run", "hurried.yaml", *NODES, "--json").id
    assert cli("run-now", id_, "nowhere").code == 3
    assert cli("cancel-retry", id_, "nap").code == 4
    assert cli("run-now", id_, "nap", "--reason", "hurry").code == 0
    go_on(cli, id_, "hurried.yaml")
    assert [one["context_id"] for one in cli("retries", "--json").json["items"]] == ["bad"]
    assert "bad" in cli("retries", "--workflow", "hurried").out
    assert cli("retries", "--limit", "0").code == 2
    assert cli("cancel-retry", id_, "bad").code == 0
    assert go_on(cli, id_, "hurried.yaml").code == 1
    assert cli("retries").out == "No retries are scheduled.\n"
    assert cli("verify").code == 0


_STOPPING = """
name: stopping
nodes:
  - {id: ask, type: form, title: Which?, next: last}
  - {id: last, type: compute, output: 1}
"""


def test_an_execution_pauses_before_a_node(cli: Run) -> None:
    Path("stopping.yaml").write_text(_STOPPING)
    id_ = cli("run", "stopping.yaml", "--json").id
    assert cli("pause", id_, "--before", "nowhere").code == 3
    assert cli("pause", id_, "--before", "last", "--until", "2999-01-01T00:00:00Z").code == 2
    assert cli("clear-breakpoint", id_, "last").code == 2
    ahead = cli("pause", id_, "--before", "last", "--reason", "look")
    assert (ahead.code, "already" in ahead.err) == (0, False)
    assert cli("answer", id_, "{}").code == 0
    assert go_on(cli, id_, "stopping.yaml").code == 10
    shown = cli("show", id_, "--json").json
    assert (shown["paused_node"], shown["paused_reason"], shown["breakpoints"]) == ("last", "look", {})
    passed = cli("pause", id_, "--before", "ask")
    assert passed.code == 0
    assert "come to `ask` already (completed)" in " ".join(passed.err.split())
    assert cli("clear-breakpoint", id_).code == 0
    assert cli("resume", id_).code == 0
    assert go_on(cli, id_, "stopping.yaml").code == 0
    assert cli("verify").code == 0


def test_every_execution_of_a_workflow_pauses_before_a_node(cli: Run) -> None:
    Path("stopping.yaml").write_text(_STOPPING)
    id_ = cli("run", "stopping.yaml", "--json").id
    assert cli("workflows", "clear-breakpoint", "stopping").code == 2
    assert cli("workflows", "pause", "stopping", "--before", "last", "--running").code == 2
    code, out, _ = cli("workflows", "pause", "stopping", "--before", "last")
    assert (code, out) == (0, "The workflow stopping is active. Its executions pause before last.\n")
    assert cli("answer", id_, "{}").code == 0
    assert go_on(cli, id_, "stopping.yaml").code == 10
    assert cli("show", id_, "--json").json["paused_node"] == "last"
    assert cli("workflows", "clear-breakpoint", "stopping", "last").code == 0


ACTS = [
    ("answer", UNKNOWN, "1"),
    ("approve", UNKNOWN),
    ("reject", UNKNOWN),
    ("pause", UNKNOWN),
    ("resume", UNKNOWN),
    ("cancel", UNKNOWN),
    ("retry", UNKNOWN),
    ("rewind", UNKNOWN, "a"),
    ("fork", UNKNOWN),
    ("run-now", UNKNOWN),
    ("cancel-retry", UNKNOWN, "a"),
    ("clear-breakpoint", UNKNOWN),
]


@pytest.mark.parametrize("words", ACTS)
def test_an_unknown_id_exits_with_code_3(cli: Run, waiting: str, words: tuple[str, ...]) -> None:
    assert waiting
    code, out, err = cli(*words)
    assert (code, out) == (3, "")
    assert f"There is no execution {UNKNOWN}." in err
    assert "layover ls" in err


@pytest.mark.parametrize("words", [*ACTS, ("signal", "paid")])
def test_acting_makes_no_database(cli: Run, words: tuple[str, ...]) -> None:
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert "There is no database" in err
    assert not list(Path().glob("*.db*"))


def test_the_delegate_of_an_approval_decides(cli: Run, reviewed: str) -> None:
    assert cli("approve", reviewed, "--by", "ben").code == 2
    code, out, _ = cli("delegate", reviewed, "ben", "--by", "ada", "--role", "boss")
    assert (code, out) == (0, f"ben decides at {reviewed}:review now.\n")
    assert go_on(cli, reviewed).code == 10
    assert cli("approve", reviewed, "--by", "ben").code == 0
    assert go_on(cli, reviewed).code == 0


def test_a_whole_workflow_is_held_and_goes_on(cli: Run, waiting: str) -> None:
    (listed,) = [one for one in cli("workflows", "ls", "--json").json["items"] if one["state"] == "active"]
    name = listed["name"]
    rests = cli("workflows", "resting", name, "--json").json
    assert sum(rests["executions"].values()) == sum(one["count"] for one in rests["nodes"]) == 1
    assert rests["nodes"][0]["id"] in cli("workflows", "resting", name).out
    assert cli("workflows", "resting", "nothing").code == 3
    code, out, _ = cli("workflows", "pause", name, "--until-cron", "@daily", "--reason", "night")
    assert code == 0
    assert out.startswith(f"The workflow {name} is paused until ")
    assert "night" in cli("workflows", "ls").out
    signal = ("--signal-key", "k", "--signal-filter", "signal.data > 1")
    code, out, _ = cli("workflows", "pause", name, "--running", "--until-signal", "opened", *signal)
    assert (code, out.startswith(f"The workflow {name} is paused until the signal opened")) == (0, True)
    assert cli("workflows", "resume", name, "--only-by-hand", "--on", "opened").code == 2
    assert cli("workflows", "resume", name, "--only-by-hand").out == f"The workflow {name} is paused.\n"
    resumed = cli("workflows", "resume", name, "--at", "2999-01-01T00:00:00Z", "--json").json
    assert (resumed["state"], resumed["resume_at"]) == ("paused", "2999-01-01T00:00:00.000Z")
    assert cli("workflows", "resume", name).out.startswith(f"The workflow {name} is active")
    assert cli("workflows", "resume", name, "--on", "opened").code == 4
    assert cli("workflows", "pause", "nothing").code == 3
    assert cli("show", waiting).code == 0
