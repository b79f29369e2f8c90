"""`layover run`: exit codes, what is printed, where input and functions come from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import go_on

if TYPE_CHECKING:
    from tests.cli.conftest import Run

ID = "00000000-0000-4000-8000-000000000001"
NODES = ("--nodes", "nodes.py")
ADA = ("--input", '{"name": "Ada"}')


def test_a_run_to_the_end_prints_what_happened_and_what_it_gave(cli: Run) -> None:
    Path("plain.yaml").write_text(
        "name: plain\nnodes:\n"
        '  - {id: hello, type: greet, input: {name: "${input.name}"}, next: finish}\n'
        '  - {id: finish, type: end, output: "${nodes.hello}"}\n'
    )
    code, out, err = cli("run", "plain.yaml", *NODES, *ADA, "--id", ID)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"plain {ID}",
        "hello: started",
        "hello: completed",
        "finish: completed",
        f"{ID} completed",
        'output: "hello Ada"',
    ]


def test_a_run_that_rests_says_for_what_and_how_to_go_on(cli: Run) -> None:
    code, out, err = cli("run", "asking.yaml", *NODES, *ADA, "--id", ID)
    assert code == 10
    assert "size: waits (form): Which size for Ada?" in out.splitlines()
    assert out.splitlines()[-1] == f"{ID} paused: `size` waits for an answer by anybody."
    assert err.splitlines() == [
        f"  layover answer {ID}:size DATA",
        f"To continue it: layover run asking.yaml --nodes nodes.py --id {ID}",
    ]


def test_a_run_that_fails_says_where(cli: Run) -> None:
    code, out, err = cli("run", "breaking.yaml", *NODES, "--input", '{"message": "no paper"}', "--id", ID)
    assert code == 1
    assert out.splitlines()[-1] == f"{ID} failed at work: RuntimeError: no paper"
    assert f"layover retry {ID}" in err


def test_a_resting_execution_is_gone_on_with_by_its_id_without_its_input(cli: Run, waiting: str) -> None:
    assert cli("answer", waiting, '{"size": 3}').code == 0
    assert go_on(cli, waiting).code == 10
    assert cli("approve", waiting, "--role", "boss").code == 0
    code, out, _ = go_on(cli, waiting)
    assert code == 0
    assert out.splitlines()[-1] == 'output: {"greeting":"hello Ada","size":3}'


def test_the_same_key_is_the_same_execution(cli: Run) -> None:
    first = cli("run", "asking.yaml", *NODES, *ADA, "--key", "one", "--json")
    again = cli("run", "asking.yaml", *NODES, *ADA, "--key", "one", "--json")
    assert (first.code, again.code) == (10, 10)
    assert first.id == again.id


@pytest.mark.parametrize("input_", [(), ("--input", '{"name": "Bob"}')])
def test_the_same_key_with_another_input_is_refused(cli: Run, input_: tuple[str, ...]) -> None:
    first = cli("run", "asking.yaml", *NODES, *ADA, "--key", "one", "--json")
    code, out, err = cli("run", "asking.yaml", *NODES, *input_, "--key", "one", "--json")
    assert (code, out) == (4, "")
    assert f"This idempotency key was used with another input, for the execution {first.id}." in err


def test_an_id_of_another_workflow_is_refused(cli: Run, waiting: str) -> None:
    code, _, err = cli("run", "breaking.yaml", *NODES, "--id", waiting, "--input", "{}")
    assert code == 4
    assert "is an execution of `asking`, not of `breaking`" in err


def test_the_json_of_a_run_is_the_execution_with_what_it_waits_for(cli: Run) -> None:
    code, out, err = ran = cli("run", "asking.yaml", *NODES, *ADA, "--json", "--tag", "a", "--tag", "b", "--by", "me")
    assert (code, err) == (10, "")
    found = ran.json
    assert found["status"] == "paused"
    assert found["tags"] == ["a", "b"]
    assert found["user"] == "me"
    assert found["version"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(found["created_at"]))
    (point,) = found["pause_points"]
    assert point["title"] == "Which size for Ada?"
    assert point["schema"]["required"] == ["size"]
    assert out.endswith("}\n")


def test_input_comes_from_the_line_a_file_or_standard_input(cli: Run) -> None:
    Path("given.json").write_text('{"name": "Eve"}')
    Path("echo.yaml").write_text('name: echo\nnodes: [{id: a, type: end, output: "${input.name}"}]\n')
    assert cli("run", "echo.yaml", "--input", '{"name": "Ada"}').out.endswith('output: "Ada"\n')
    assert cli("run", "echo.yaml", "--input", "@given.json").out.endswith('output: "Eve"\n')
    assert cli("run", "echo.yaml", "--input", "-", stdin=b'{"name": "Joe"}').out.endswith('output: "Joe"\n')
    piped = cli("run", "-", "--input", '{"name": "Ada"}', stdin=Path("echo.yaml").read_bytes())
    assert piped.out.endswith('output: "Ada"\n')


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('{"name": "Ada"', "--input:1:15: not valid JSON"),
        ("\n\n{x}", "--input:3:2: not valid JSON"),
        ("Ada", "A text is written in quotes"),
        ("NaN", "NaN is not a JSON value"),
        ("[" * 100_000, "nested too deeply"),
        ("@nowhere.json", "nowhere.json: No such file"),
        ("@nodes.py", "nodes.py:2:3: not valid JSON"),
        ("9" * 5_000, "not valid JSON"),
    ],
)
def test_invalid_json_is_refused_with_its_position(cli: Run, given: str, said: str) -> None:
    code, out, err = cli("run", "asking.yaml", *NODES, "--input", given)
    assert (code, out) == (2, "")
    assert said in err
    assert not Path("layover.db").exists()


def test_too_much_input_is_refused(cli: Run) -> None:
    Path("big.json").write_bytes(b" " * 16_000_001 + b"1")
    code, _, err = cli("run", "asking.yaml", *NODES, "--input", "@big.json")
    assert code == 2
    assert "more than 16 MB" in err


def test_invalid_input_is_refused_field_by_field(cli: Run) -> None:
    Path("strict.yaml").write_text(
        "name: strict\ninput: {type: object, required: [n], properties: {n: {type: integer}}}\n"
        "nodes: [{id: a, type: end}]\n"
    )
    code, _, err = cli("run", "strict.yaml", "--input", '{"n": "x"}')
    assert code == 2
    assert '  n: "x" is not of type "integer"' in err.splitlines()


def test_a_missing_function_is_named_with_what_to_do(cli: Run) -> None:
    code, out, err = cli("run", "asking.yaml", *ADA)
    assert code == 2
    assert "greet" in out
    assert "--nodes MODULE" in err


def test_an_execution_whose_function_has_gone_rests(cli: Run) -> None:
    Path("late.yaml").write_text(
        "name: late\nnodes:\n  - {id: ask, type: form, title: t, schema: {}, next: hello}\n"
        "  - {id: hello, type: greet, input: {name: x}}\n"
    )
    id_ = cli("run", "late.yaml", *NODES, "--json").id
    assert cli("answer", id_, "1").code == 0
    Path("late.yaml").write_text("name: late\nnodes: [{id: ask, type: form, title: t, schema: {}}]\n")
    code, out, _ = cli("run", "late.yaml", "--id", id_)
    assert code == 10
    assert "`hello` waits for an instance that has a function for `greet`." in out
    assert f"execution {id_}: no instance has a function and a free call slot for greet" in cli("doctor").out


def test_the_problems_of_a_definition_as_json(cli: Run) -> None:
    ran = cli("run", "asking.yaml", "--json")
    assert (ran.code, ran.json["ok"]) == (2, False)
    assert ran.json["problems"]


def test_two_things_cannot_come_from_standard_input(cli: Run) -> None:
    code, _, err = cli("run", "-", "--input", "-", stdin=b"{}")
    assert code == 2
    assert "cannot both come from standard input" in err


def test_a_retry_is_waited_for(cli: Run) -> None:
    Path("other_once.py").write_text(
        "seen = []\ndef flaky():\n    seen.append(1)\n    if len(seen) == 1:\n        raise OSError('not yet')\n"
        "    return len(seen)\n"
    )
    Path("flaky.yaml").write_text(
        "name: flaky\nnodes: [{id: a, type: flaky, retry: {max_attempts: 3, delay: 300ms}, next: b},"
        ' {id: b, type: end, output: "${nodes.a}"}]\n'
    )
    code, out, _ = cli("run", "flaky.yaml", "--nodes", "other_once.py")
    assert code == 0
    assert "a: failed, tried again: OSError: not yet" in out.splitlines()
    assert "a: started (attempt 2)" in out.splitlines()


def test_a_child_is_waited_for_while_it_goes_on(cli: Run) -> None:
    Path("other_twice.py").write_text(
        "seen = []\ndef flaky():\n    seen.append(1)\n    if len(seen) == 1:\n        raise OSError('not yet')\n"
        "    return len(seen)\n"
    )
    Path("inner.yaml").write_text("name: inner\nnodes: [{id: a, type: flaky, retry: {delay: 300ms}}]\n")
    Path("outer.yaml").write_text("name: outer\nnodes: [{id: child, type: workflow, workflow: inner}]\n")
    assert cli("run", "inner.yaml", "--nodes", "other_twice.py").code == 0
    code, out, _ = cli("run", "outer.yaml", "--nodes", "other_twice.py")
    assert (code, out.splitlines()[-1]) == (0, "output: 2")


def test_a_run_is_left_when_its_time_is_up(cli: Run) -> None:
    Path("long.yaml").write_text("name: long\nnodes: [{id: a, type: delay, duration: 1h}]\n")
    code, _, err = cli("run", "long.yaml", "--watch", "--timeout", "1ms")
    assert code == 10
    assert "The time is up; nothing of it is lost." in err
    assert cli("run", "long.yaml").code == 10
    code, _, err = cli("run", "long.yaml", "--timeout", "soon")
    assert code == 2
    assert err.startswith("layover: --timeout: ")


def test_functions_of_a_module_are_its_public_ones_or_those_it_lists(cli: Run) -> None:
    Path("other_listed.py").write_text("def greet(name): return 1\ndef unlisted(): ...\nNODES = [greet]\n")
    assert cli("check", "asking.yaml", "--nodes", "other_listed").code == 0
    Path("uses.yaml").write_text("name: uses\nnodes: [{id: a, type: unlisted}]\n")
    code, out, _ = cli("check", "uses.yaml", "--nodes", "other_listed")
    assert code == 2
    assert "unlisted" in out
    Path("uses.yaml").write_text("name: uses\nnodes: [{id: a, type: _hidden}]\n")
    assert cli("check", "uses.yaml", *NODES).code == 2


def test_where_functions_are_marked_the_others_are_none(cli: Run) -> None:
    Path("other_marked.py").write_text(
        "from layover import node\n@node\ndef greet(name: str) -> str: return name\ndef no_node(x, /): ...\n"
    )
    assert cli("check", "asking.yaml", "--nodes", "other_marked.py").code == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("other_none.py", None, "there is no such file"),
        ("other_module", None, "there is no such module"),
        ("other_syntax.py", "def (", "cannot be imported: SyntaxError"),
        ("other_raises.py", "raise OSError('disk')", "cannot be imported: OSError: disk"),
        ("other_exits.py", "import sys; sys.exit(3)", "cannot be imported: SystemExit"),
        ("other_imports.py", "import not_there_at_all", "No module named 'not_there_at_all'"),
        ("other_empty.py", "x = 1", "it has no public functions"),
        ("other_wrong.py", "NODES = 5", "`NODES` is a list of functions"),
        ("other_holds.py", "NODES = [5]", "`NODES` holds 5"),
        ("other_positional.py", "def f(x, /): ...", "positional-only"),
        ("other_name.py", "def delay(): ...", "cannot be the name of a node type"),
    ],
)
def test_functions_that_cannot_be_loaded_are_reported_in_two_lines_at_most(
    cli: Run, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        Path(name).write_text(content)
    code, out, err = cli("run", "asking.yaml", "--nodes", name)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) <= 2


def test_what_started_an_execution_can_be_given(cli: Run) -> None:
    Path("triggered.yaml").write_text('name: triggered\nnodes: [{id: e, type: end, output: "${trigger.kind}"}]\n')
    ran = cli("run", "triggered.yaml", "--trigger", '{"kind": "webhook"}', "--json")
    assert (ran.code, ran.json["output"], ran.json["trigger"]) == (0, "webhook", {"kind": "webhook"})
