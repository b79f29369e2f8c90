"""Workflows in Python, named on the command line where files are."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from layover import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

FLOWS = """
from layover import Workflow, node

print("imported")

@node
def greet(name: str) -> str:
    return f"hello {name}"

def shout(text: str) -> str:
    return text.upper()

hello = Workflow("hello")
greeting = hello.call("greeting", greet, input={"name": "${input.name}"})
loud = hello.call("loud", shout, input={"text": "${nodes.greeting}"})
greeting >> loud >> hello.end("out", output="${nodes.loud}")
same = hello

ask = Workflow("ask")
ask.approval("review", title="May it?")

_hidden = Workflow("hidden")
number = 5

def make() -> Workflow:
    return Workflow("made")
"""
ONE = """
from layover import Workflow
flow = Workflow("one")
flow.end("out", output="${input.name}")
"""
INNER = """
from layover import Workflow
flow = Workflow("one")
flow.call("hi", greet) >> flow.end("out", output="${input.name}")
"""
GIVEN = ("--input", '{"name": "Ada"}', "--json")


@pytest.fixture(autouse=True)
def flows(project: Path) -> None:
    (project / "flows.py").write_text(FLOWS)
    (project / "one.py").write_text(ONE)
    (project / "package").mkdir()
    (project / "package" / "__init__.py").write_text("")
    (project / "package" / "inner.py").write_text("from .functions import greet\n" + INNER)
    (project / "package" / "functions.py").write_text("def greet() -> str: return 'hi'\n")


@pytest.mark.parametrize("name", ["flows:hello", "flows.py:hello", "./flows.py:hello", "flows:same"])
def test_a_workflow_runs_with_the_functions_of_its_module(cli: Run, name: str) -> None:
    ran = cli("run", name, *GIVEN)
    assert (ran.code, ran.json["output"]) == (0, "HELLO ADA")


@pytest.mark.parametrize("name", ["one.py", "one.py:flow", "one:flow", "package.inner:flow"])
def test_a_file_with_one_workflow_needs_no_choice(cli: Run, name: str) -> None:
    ran = cli("run", name, *GIVEN)
    assert (ran.code, ran.json["workflow"], ran.json["output"]) == (0, "one", "Ada")


def test_a_file_with_several_workflows_says_how_to_name_each(cli: Run) -> None:
    for command in ("run", "graph"):
        code, out, err = cli(command, "flows.py")
        assert (code, out) == (2, "")
        assert "flows.py has 2 workflows; name one of them:" in err
        assert "flows.py:hello  (hello)\n" in err
        assert "flows.py:ask  (ask)\n" in err


def test_check_reports_on_every_workflow_of_a_file(cli: Run) -> None:
    code, out, _ = cli("check", "flows.py", "one:flow", "asking.yaml", "--nodes", "nodes")
    assert code == 0
    assert [line.partition(": workflow ")[0] for line in out.splitlines() if "is sound" in line] == [
        "flows.py:hello",
        "flows.py:ask",
        "one:flow",
        "asking.yaml",
    ]


def test_check_finds_what_is_wrong_and_names_the_node(cli: Run, project: Path) -> None:
    (project / "faulty.py").write_text(
        "from layover import Workflow, node\n"
        "@node\ndef charge(card: str) -> str: return card\n"
        "flow = Workflow('faulty')\n"
        "flow.call('pay', charge, input={'crd': 'x'}) >> flow.call('send', 'send_mail')\n"
    )
    code, out, _ = cli("check", "faulty:flow")
    assert code == 2
    said = [line.partition("[")[2] for line in out.splitlines()]
    assert sorted(said) == ["missing_argument]", "unknown_argument]", "unknown_type]"]
    assert "faulty:flow: send.type: warning: There is no node type `send_mail`" in out
    code, out, _ = cli("check", "faulty:flow", "--nodes", "nodes")
    assert "send.type: error: There is no node type `send_mail`" in out


def test_functions_that_are_given_count_beside_those_of_the_module(cli: Run, project: Path) -> None:
    (project / "outer.py").write_text(
        "from layover import Workflow\nflow = Workflow('outer')\n"
        "flow.call('g', 'greet', input={'name': 'Bo'}) >> flow.end('out', output='${nodes.g}')\n"
    )
    code, out, err = cli("run", "outer:flow")
    assert code == 2
    assert "There is no node type `greet`" in out
    assert "Give the functions of a workflow with --nodes" in err
    assert cli("run", "outer:flow", "--nodes", "nodes.py", "--json").json["output"] == "hello Bo"


def test_a_file_that_is_named_twice_is_imported_once(cli: Run) -> None:
    ran = cli("run", "flows:hello", "--nodes", "flows.py", *GIVEN)
    assert (ran.code, ran.json["output"]) == (0, "HELLO ADA")
    assert ran.err.count("imported") == 1
    assert cli("run", "flows.py:hello", "--nodes", "flows", *GIVEN).code == 0


def test_what_a_module_prints_does_not_get_into_the_output(cli: Run) -> None:
    ran = cli("graph", "flows:hello", "--json")
    assert ran.json["workflow"] == "hello"
    assert "imported" in ran.err


def test_a_python_workflow_goes_on_by_the_command_that_run_prints(cli: Run) -> None:
    code, out, err = cli("run", "flows:ask")
    assert code == 10
    again = next(line for line in (out + err).splitlines() if "layover run" in line).partition("layover ")[2]
    assert again.startswith("run flows:ask --id ")
    assert cli(*again.split()).code == 10


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flow:hello", "flow:hello: there is no such module. Did you mean `flows`?"),
        ("nowhere.at.all:flow", "nowhere.at.all:flow: there is no such module."),
        ("package.iner:flow", "package.iner:flow: there is no such module."),
        ("flos.py", "flos.py: there is no such file. Did you mean `flows.py`?"),
        ("flos.py:hello", "flos.py:hello: there is no such file. Did you mean `flows.py`?"),
        ("flows:helo", "flows:helo: there is no `helo` in it. Did you mean `hello`?"),
        ("flows:number", "flows:number: this is not a Workflow, but an int."),
        ("flows:greet", "flows:greet: this is not a Workflow, but a node function."),
        ("flows:make", "Call it in the module: `flow = make(…)`"),
        ("flows:", "A workflow in Python is named MODULE:WORKFLOW, FILE.py:WORKFLOW or FILE.py."),
        ("flows:he-llo", "`he-llo` cannot be the name of a workflow."),
        (":hello", "cannot be the name of a workflow."),
        ("package/inner:flow", "Did you mean `package/inner.py:flow`?"),
        ("package/inner.py:flow", "A file of a package is named as a module"),
        ("asking.yaml:flow", "asking.yaml:flow: asking.yaml is not a Python file."),
        ("flows", "A workflow in Python is named MODULE:WORKFLOW"),
        ("nodes.py", "nodes.py: there is no workflow in it."),
        ("nodes.py:calls", "this is not a Workflow, but a list."),
    ],
)
def test_a_name_that_is_no_workflow_is_refused_with_the_reason(cli: Run, name: str, said: str) -> None:
    for command in ("check", "graph", "run", "worker"):
        code, out, err = cli(command, name)
        assert (code, out) == (2, "")
        assert said in err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("\n\nraise OSError('disk')", "broken:flow: it cannot be imported: OSError: disk (broken.py:3)"),
        ("def (", "it cannot be imported: SyntaxError: invalid syntax (broken.py:1)"),
        ("import sys\nsys.exit(3)", "it cannot be imported: SystemExit: 3 (broken.py:2)"),
        ("import not_there_at_all", "No module named 'not_there_at_all' (broken.py:1)"),
        ("import json\njson.loads('x')", "Expecting value: line 1 column 1 (char 0) (broken.py:2)"),
        (
            "from layover import Workflow\nflow = Workflow('x')\nflow.end('a')\nflow.end('a')",
            "BadBuild: `x` has a node `a` already: each needs an id of its own. (broken.py:4)",
        ),
        ("from layover import Workflow\nflow = Workflow('x')\nNODES = 5", "`NODES` is a list of functions."),
    ],
)
def test_a_module_that_raises_is_reported_with_the_line_of_the_user(
    cli: Run, project: Path, content: str, said: str
) -> None:
    (project / "broken.py").write_text(content)
    code, out, err = cli("check", "broken:flow")
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


def test_a_module_that_failed_is_imported_again_when_it_is_named_again(cli: Run, project: Path) -> None:
    (project / "broken.py").write_text("raise OSError('disk')")
    assert cli("check", "broken.py").code == 2
    assert not [name for name in sys.modules if name.startswith("broken")]
    (project / "broken.py").write_text(ONE)
    assert cli("check", "broken.py").code == 0


def test_a_definition_that_is_there_is_a_file_whatever_it_is_called(cli: Run, project: Path) -> None:
    (project / "flows:hello").write_text("name: text\nnodes: [{id: e, type: end}]\n")
    assert "workflow `text` is sound" in cli("check", "flows:hello").out


def test_only_what_is_named_is_imported(cli: Run, project: Path) -> None:
    (project / "trap.py").write_text("raise SystemExit('a trap')")
    (project / "flows_folder").mkdir()
    (project / "flows_folder" / "trap.py").write_text("raise SystemExit('a trap')")
    (project / "flows_folder" / "bad.yaml").write_text("name: bad\nnodes: []\n")
    code, _, err = cli("worker", "flows_folder", "one.py")
    assert code == 2
    assert "[empty_graph]" in err
    assert "trap" not in err


def test_a_worker_reports_invalid_workflows_before_it_starts(cli: Run, project: Path) -> None:
    (project / "faulty.py").write_text("from layover import Workflow\nflow = Workflow('f')\nflow.delay('d', '8')\n")
    code, out, err = cli("worker", "faulty.py", "flows:hello")
    assert (code, out) == (2, "")
    assert "faulty.py:flow: d.duration: `duration` cannot be '8'" in err


def test_a_worker_registers_the_workflows_that_are_named(project: Path) -> None:
    words = [sys.executable, "-uc", "from layover.cli.main import main; main()", "worker", "flows.py", "one:flow"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAYOVER_")}
    with subprocess.Popen(words, cwd=project, env=kept, stdout=subprocess.PIPE, text=True) as worker:  # noqa: S603 - ours
        assert worker.stdout is not None
        try:
            said = [worker.stdout.readline() for _ in range(4)]
        finally:
            worker.terminate()
        worker.wait(30)
    assert "  workflows:  hello, ask, one\n" in said
    assert "  node types: greet, http, shout\n" in said

    async def start() -> str:
        async with Engine("sqlite:///layover.db") as engine:
            return (await engine.start("ask", {}, until="rest")).status

    assert asyncio.run(start()) == "paused"
