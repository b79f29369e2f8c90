"""The example programs do what they say they do."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

_EXAMPLES = Path(__file__).parents[2] / "examples"


def _run(program: str, folder: Path) -> str:
    words = [sys.executable, str(_EXAMPLES / program), *((str(folder / "example.db"),) if program != "demo.py" else ())]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=300).stdout  # noqa: S603 - ours


def test_a_refund_goes_on_in_another_process(tmp_path: Path) -> None:
    assert "paused" in _run("refund.py", tmp_path)
    assert "completed" in _run("refund.py", tmp_path)


def test_a_parcel_is_picked_and_shipped(tmp_path: Path) -> None:
    assert _run("parcel.py", tmp_path).splitlines() == [
        "warehouse: asked to pick A-17",
        "order: `pick` waits to be called back.",
        "warehouse: picked",
        "carrier: scanned",
        "order: {'pallet': 'P-4', 'at': 'Bremen'}",
    ]


def test_a_payment_is_made_with_a_key_from_a_vault(tmp_path: Path) -> None:
    why, *rest = _run("vault.py", tmp_path).splitlines()
    assert "The secret `PAYMENT_KEY` was not found" in why
    assert rest == [
        "{'paid': 80, 'receipt': 'signed with ***PAYMENT_KEY***'}",
        "{'key': {'$secret': 'PAYMENT_KEY'}, 'amount': 80}",
        "PAYMENT_KEY: from Vault, version 1, for payment",
    ]


def test_a_careless_charge_is_found_and_one_under_a_key_holds(tmp_path: Path) -> None:
    lines = _run("simulated.py", tmp_path).splitlines()
    assert lines[0].startswith("carelessly: EFFECT_ONCE is broken by seed ")
    assert "has the effect charge of" in lines[3]
    assert lines[-1].startswith("under a key: 10 seeds, ")


def test_the_demo_ends_well(tmp_path: Path) -> None:
    said = _run("demo.py", tmp_path)
    assert "exit code -9" in said
    assert said.splitlines()[-1].startswith("Nothing was lost, nothing was done twice")


def test_the_expense_is_run_by_the_commands_that_it_names(tmp_path: Path) -> None:
    program = shutil.copy(_EXAMPLES / "expense.py", tmp_path)
    commands = [line.strip() for line in Path(program).read_text().splitlines() if line.startswith("    layover ")]
    ended = []
    for command in commands:
        words = [sys.executable, "-c", "from layover.cli.main import main; main()", *shlex.split(command)[1:]]
        ended.append(subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False))  # noqa: S603 - ours
    assert [one.returncode for one in ended] == [0, 0, 0, 0, 10, 0]
    checked, _, drawn, small, large, inbox = (one.stdout for one in ended)
    assert checked == "expense.py:flow: workflow `expense` is sound\n"
    assert drawn.startswith("flowchart TD\n")
    assert "40.00 to Ada" in small
    assert "waits for a decision by role manager" in large
    assert "400 for Ada?" in inbox
    assert (tmp_path / "expense.svg").read_text().startswith("<svg ")
