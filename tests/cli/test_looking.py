"""`layover ls`, `inbox`, `show`, `history`, `why`: what is seen, by which names, and that looking changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

UNKNOWN = "00000000-0000-4000-8000-00000000dead"
LOOKS = [("show",), ("history",), ("why",)]


def test_executions_are_listed_newest_first(cli: Run, waiting: str) -> None:
    second = cli("run", "breaking.yaml", "--nodes", "nodes.py", "--input", '{"message": "x"}', "--json").id
    code, out, err = cli("ls")
    heading, *lines = out.splitlines()
    assert (code, err) == (0, "")
    assert heading.split() == ["ID", "WORKFLOW", "STATUS", "CREATED", "TOOK", "OUTCOME"]
    assert [line.split()[:3] for line in lines] == [[second, "breaking", "failed"], [waiting, "asking", "paused"]]
    assert [item["id"] for item in cli("ls", "--json").json["items"]] == [second, waiting]


def test_a_list_is_narrowed(cli: Run, waiting: str) -> None:
    tagged = cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "B"}', "--json", "--tag", "b").id
    assert waiting not in cli("ls", "--tag", "b").out
    assert tagged in cli("ls", "--tag", "b").out
    assert cli("ls", "--workflow", "breaking").out == "No executions.\n"
    assert cli("ls", "--status", "failed", "--status", "completed").out == "No executions.\n"
    assert len(cli("ls", "--status", "paused", "--limit", "1").out.splitlines()) == 2
    assert cli("ls", "--limit", "0").code == 2


def test_a_long_list_is_gone_on_with(cli: Run, waiting: str) -> None:
    second = cli("run", "breaking.yaml", "--nodes", "nodes.py", "--input", '{"message": "x"}', "--json").id
    page = cli("ls", "--limit", "1", "--json").json
    assert [item["id"] for item in page["items"]] == [second]
    rest = cli("ls", "--cursor", page["next"], "--json").json
    assert [item["id"] for item in rest["items"]] == [waiting]
    assert rest["next"] is None
    assert cli("ls", "--limit", "1").err == f"There may be more: --cursor {page['next']}\n"
    for wrong in ("", "1", "1.2", f"x.{waiting}"):
        assert cli("ls", "--cursor", wrong).code == 2


def test_an_execution_is_shown_with_nodes_points_and_legs(cli: Run, waiting: str) -> None:
    code, out, err = cli("show", waiting)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"{waiting}  asking v1  paused"
    assert 'input: {"name":"Ada"}' in lines
    nodes = [line.split()[:4] for line in lines[lines.index("nodes:") + 1 : lines.index("pause points:")]]
    assert nodes[:4] == [
        ["✓", "hello", "greet", "completed"],
        ["‖", "size", "form", "waiting"],
        ["·", "review", "approval"],
        ["·", "out", "end"],
    ]
    assert any(
        re.fullmatch(r"  size  form  open  by anybody  until \S+ \S+  Which size for Ada\?", line) for line in lines
    )
    assert lines[lines.index("legs:") + 1].startswith("  1  created  events 1-")


def test_the_rounds_and_branches_of_containers_are_shown_within_them(cli: Run) -> None:
    Path("nested.yaml").write_text(
        "name: nested\nnodes:\n"
        "  - id: each\n    type: loop\n    times: 12\n"
        '    body: [{id: hello, type: greet, input: {name: "x${index}"}}]\n'
        "    next: both\n"
        "  - id: both\n    type: parallel\n    branches:\n"
        "      - {id: right, body: [{id: ask, type: form, title: Left, schema: {}}]}\n"
        "      - {id: left, body: [{id: ask, type: form, title: Right, schema: {}}]}\n"
    )
    id_ = cli("run", "nested.yaml", "--nodes", "nodes.py", "--json").id
    lines = cli("show", id_).out.splitlines()
    assert "    │ … 2 before" in lines
    assert "    │ 2" in lines
    assert "    │ 11" in lines
    assert "    │ 1" not in lines
    at = lines.index("    │ right")
    assert lines[at + 1].split()[1:4] == ["‖", "ask", "form"]
    assert lines[at + 2] == "    │ left"


def test_an_execution_as_json_has_everything(cli: Run, waiting: str) -> None:
    found = cli("show", waiting, "--json").json
    assert found["id"] == waiting
    assert [node["context_id"] for node in found["nodes"]] == ["hello", "size"]
    assert [point["status"] for point in found["pause_points"]] == ["open"]
    assert [leg["cause"] for leg in found["legs"]] == ["created"]


def test_the_log_is_printed_from_a_number_on(cli: Run, waiting: str) -> None:
    lines = cli("history", waiting).out.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
    assert lines[0].split()[2] == "ExecutionCreated"
    assert cli("history", waiting, "--since", "3").out.splitlines() == lines[3:]
    items = cli("history", waiting, "--json").json["items"]
    assert [item["type"] for item in items] == [line.split()[2] for line in lines]
    assert cli("history", waiting, "--since", "999").out == ""


def test_why_follows_what_is_waited_for(cli: Run) -> None:
    Path("outer.yaml").write_text(
        'name: outer\nnodes: [{id: inner, type: workflow, workflow: asking, input: {name: "A"}}]\n'
    )
    cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "x"}')
    ran = cli("run", "outer.yaml", "--nodes", "nodes.py", "--json")
    lines = cli("why", ran.id).out.splitlines()
    assert lines[0].startswith("`inner` waits for the execution ")
    assert lines[1].startswith("  `size` waits for an answer by anybody.")
    (reason,) = cli("why", ran.id, "--json").json["reasons"]
    assert reason["because"][0]["context_id"] == "size"


def test_the_inbox_is_what_a_person_may_answer(cli: Run, waiting: str) -> None:
    assert f"{waiting}:size  form" in cli("inbox").out.splitlines()
    cli("answer", waiting, '{"size": 1}')
    cli("run", "asking.yaml", "--nodes", "nodes.py", "--id", waiting)
    assert cli("inbox", "--user", "ada").out == "No pause point waits for this person.\n"
    lines = cli("inbox", "--user", "ada", "--role", "boss").out.splitlines()
    assert lines[0] == f"{waiting}:review  approval"
    assert "role boss" in lines[1]
    (item,) = cli("inbox", "--role", "boss", "--json").json["items"]
    assert (item["kind"], item["approvers"]["roles"]) == ("approval", ["boss"])


@pytest.mark.parametrize("words", LOOKS)
def test_an_execution_is_named_by_the_beginning_of_its_id(cli: Run, waiting: str, words: tuple[str, ...]) -> None:
    whole = cli(*words, waiting).out.splitlines()[0]
    assert cli(*words, waiting[:30]).out.splitlines()[0] == whole
    assert cli(*words, waiting[:30].upper()).out.splitlines()[0] == whole


def test_an_ambiguous_prefix_is_refused_with_the_ids_that_have_it(cli: Run) -> None:
    ids = [f"abcdef00-0000-4000-8000-00000000000{n}" for n in range(2)]
    for id_ in ids:
        cli("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "x"}', "--id", id_)
    code, out, err = cli("show", "abcdef")
    assert (code, out) == (2, "")
    assert all(f"  {id_}" in err.splitlines() for id_ in ids)


@pytest.mark.parametrize("words", LOOKS)
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        (UNKNOWN, 3, "There is no execution"),
        ("abcdef", 3, "There is no execution"),
        ("abcde", 2, "too short"),
        ("hello!", 2, "is not an execution id"),
        ("", 2, "is not an execution id"),
    ],
)
def test_an_unknown_name_is_refused(
    cli: Run, waiting: str, words: tuple[str, ...], name: str, code: int, said: str
) -> None:
    assert waiting
    ran = cli(*words, name)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err


@pytest.mark.parametrize("words", [("ls",), ("inbox",), ("show", UNKNOWN), ("history", UNKNOWN), ("why", UNKNOWN)])
def test_looking_makes_no_database(cli: Run, words: tuple[str, ...]) -> None:
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert "There is no database layover.db" in err
    assert "layover migrate" in err
    assert not list(Path().glob("*.db*"))


def test_looking_changes_nothing(cli: Run, waiting: str) -> None:
    before = Path("layover.db").read_bytes()
    for words in (("ls",), ("inbox",), ("show", waiting), ("history", waiting), ("why", waiting), ("doctor",)):
        assert cli(*words).code == 0
    assert Path("layover.db").read_bytes() == before
    assert not Path("layover.db-instances").exists()


def test_the_database_is_named_by_option_or_environment(
    cli: Run, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("layover.db").rename("moved.db")
    assert cli("ls").code == 2
    assert waiting in cli("ls", "--db", "moved.db").out
    monkeypatch.setenv("LAYOVER_DB", "sqlite:///moved.db")
    assert waiting in cli("ls").out
    assert cli("ls", "--db", "mysql://there").code == 2


HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "cleared": "\x1b[2J\x1b[H",
    "c1": "\x9b31m",
    "title": "\x1b]0;owned\x07",
    "bidi": "\u202egnp.exe",
    "lines": "one\r\nfake: line\u2028two",
    "markup": "[bold red]x[/] [link=https://example.org]y[/link]",
    "long": "x" * 300_000,
    "lone": "\\ud800",
}


def test_hostile_text_in_data_is_shown_harmless(cli: Run) -> None:
    text = "".join(value for key, value in HOSTILE.items() if key != "long")
    Path("hostile.yaml").write_text(
        'name: hostile\nnodes: [{id: ask, type: form, title: "${input.text}", schema: {}, shown: "${input.text}"}]\n'
    )
    given = json.dumps({"text": text, **HOSTILE})
    Path("given.json").write_text(given)
    ran = cli("run", "hostile.yaml", "--input", "@given.json", "--id", UNKNOWN)
    printed = [ran.out, ran.err]
    assert ran.code == 10
    for words in (("ls",), ("inbox",), ("show", UNKNOWN), ("history", UNKNOWN), ("why", UNKNOWN)):
        for more in ((), ("--json",)):
            ran = cli(*words, *more)
            assert ran.code == 0
            printed.append(ran.out)
            assert more or max(map(len, ran.out.splitlines())) < 2_000
    whole = "\n".join(printed).replace("\n", "")
    assert not [character for character in set(whole) if not character.isprintable()]
    assert "\\x1b[31mred" in whole
    assert "[bold red]x[/]" in whole
    found = cli("show", UNKNOWN, "--json").json
    assert found["input"] == json.loads(given)


SHOWN = """
name: shown
nodes:
  - {id: review, type: approval, title: Pay?, shown: {amount: "${input.amount}", to: Ada}}
settings: {max_pause: 7d}
"""


def test_what_an_approval_shows_is_in_the_inbox_and_in_show(cli: Run) -> None:
    Path("shown.yaml").write_text(SHOWN)
    id_ = cli("run", "shown.yaml", "--input", '{"amount": 250}', "--json").id
    (item,) = cli("inbox", "--json").json["items"]
    assert item["shown"] == {"amount": 250, "to": "Ada"}
    assert cli("show", id_, "--json").json["pause_points"][0]["shown"] == {"amount": 250, "to": "Ada"}
    for command in (("inbox",), ("show", id_)):
        lines = [line.strip() for line in cli(*command).out.splitlines()]
        assert {"amount: 250", 'to: "Ada"'} <= set(lines)
