"""`layover check`, `graph` and `schema`, run as a person runs them: as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.servers.fork_server import run_command

ROOT = Path(__file__).parents[2]
ORDER = str(ROOT / "examples" / "order.yaml")


def layover(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
    environment = {"COLUMNS": "100", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8"}
    code, out, err = run_command(words, Path.cwd(), environment, stdin)
    return code, out.decode(), err.decode()


def test_a_sound_definition_passes() -> None:
    code, out, err = layover("check", ORDER)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].endswith("workflow `order` is sound, 2 warnings")


def test_problems_are_printed_with_their_places_and_a_code_for_scripts() -> None:
    code, out, err = layover("check", "-", stdin=b"name: w\nnodes:\n  - {id: a, type: delay, duration: 5}\n")
    assert (code, err) == (2, "")
    assert out.startswith("<stdin>:3:36: error: `duration` is a duration such as `30s`, not 5")
    assert out.rstrip().endswith("[bad_duration]")


def test_problems_are_printed_as_json_for_machines() -> None:
    code, out, _ = layover("check", "--json", ORDER, "-", stdin=b"nodes: []")
    sound, faulty = json.loads(out)
    assert code == 2
    assert sound["ok"]
    assert not faulty["ok"]
    assert {"code", "path", "message", "line", "column"} <= faulty["problems"][0].keys()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "nowhere.yaml"], "No such file"),
        (["check", str(ROOT)], "Is a directory"),
        (["check"], "at least one file"),
        (["chek"], 'Did you mean "check"?'),
        (["check", "--jsn", ORDER], "--jsn"),
        (["graph"], "requires an argument"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(words: list[str], said: str) -> None:
    code, out, err = layover(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"", b"\x00" * 100, b"{" * 100_000, b"a: " * 100_000, b"x" * 5_000_000]
)
def test_any_bytes_get_a_problem_and_never_a_traceback(content: bytes) -> None:
    code, out, err = layover("check", "-", stdin=content)
    assert (code, err) == (2, "")
    assert "error: " in out


def test_the_graph_shows_what_runs_after_what() -> None:
    code, out, _ = layover("graph", ORDER)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("order  ")
    assert "  ● big       condition  input.total > 1000" in lines
    assert "      true → review" in lines
    assert "    │   ● charge   charge_card" in lines


def test_the_definition_in_its_canonical_form_is_read_back_the_same() -> None:
    _, out, _ = layover("graph", "--format", "definition", ORDER)
    again = layover("graph", "--format", "definition", "-", stdin=out.encode())[1]
    assert json.loads(again) == json.loads(out)
    assert json.loads(out)["start"] == ["big"]


def test_the_graph_of_a_faulty_definition_is_its_problems() -> None:
    code, out, _ = layover("graph", "-", stdin=b"name: w\nnodes: []\n")
    assert code == 2
    assert "[empty_graph]" in out


def test_the_schema_is_printed() -> None:
    code, out, _ = layover("schema")
    assert code == 0
    assert json.loads(out)["title"] == "Layover workflow definition"


def test_arguments_that_a_function_does_not_take_are_found(tmp_path: Path) -> None:
    functions = tmp_path / "functions.py"
    functions.write_text("def charge(card: str, amount: int = 1) -> str:\n    return card\n")
    source = b"name: w\nnodes:\n  - {id: a, type: charge, input: {crd: c}}\n"
    code, out, err = layover("check", "-", "--nodes", str(functions), stdin=source)
    assert (code, err) == (2, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines == [
        "<stdin>:3:34: error: `charge` needs `card`: give it in `input`. [missing_argument]",
        (
            "<stdin>:3:35: error: `charge` takes no argument `crd`: it takes `card`, `amount`. Did you mean `card`? "
            "[unknown_argument]"
        ),
    ]
    assert layover("check", "-", stdin=source)[0] == 0
