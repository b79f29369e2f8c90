"""`layover audit verify`, `keys` and `new-key`; `layover receipt` and `receipt verify`."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.audit.signing import NEW, OLD

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FLOW = "name: pay\nnodes:\n  - {id: ok, type: approval, title: Pay?}\n"


@pytest.fixture
def decided(cli: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of an execution in which ada has approved, under a key."""
    monkeypatch.setenv("LAYOVER_SECRET_AUDIT_KEY", OLD)
    Path("pay.yaml").write_text(FLOW, encoding="utf-8")
    id_ = cli("run", "pay.yaml", "--json").id
    assert cli("approve", id_, "--by", "ada", "--comment", "fine").code == 0
    assert cli("run", "pay.yaml", "--id", id_).code == 0
    return f"{id_}:ok"


def point_of(cli: Run, decided: str) -> str:
    (one,) = cli("audit", "ls", "--act", "approval.approve", "--json").json["items"]
    assert one["execution_id"] == decided.removesuffix(":ok")
    return str(one["target"])


def test_what_nobody_changed_is_verified(cli: Run, decided: str) -> None:
    assert decided
    code, out, err = cli("audit", "verify")
    assert code == 0, out
    assert "nothing was changed" in out
    assert "the newest key is that of AUDIT_KEY" in out
    assert "Head: " in out
    assert err
    found = cli("audit", "verify", "--json").json
    assert (found["ok"], found["findings"], found["waiting"], found["decisions"]) == (True, [], 0, 1)
    assert cli("audit", "verify", "--head", found["head"]).code == 0


def test_what_somebody_changed_is_named(cli: Run, decided: str) -> None:
    point = point_of(cli, decided)
    head = cli("audit", "verify", "--json").json["head"]
    db = apsw.Connection("layover.db")
    db.execute("UPDATE audit SET user = 'eve' WHERE target = ?", (point,))
    db.close()
    code, out, _ = cli("audit", "verify")
    assert code == 1
    assert "The column `user` of the entry" in out
    assert "[entry_changed]" in out
    found = cli("audit", "verify", "--json", "--head", head).json
    assert "entry_changed" in [one["code"] for one in found["findings"]]
    assert not found["ok"]


def test_a_head_that_is_not_there_and_a_key_that_does_not_count_are_named(
    cli: Run, decided: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decided
    code, out, _ = cli("audit", "verify", "--head", "ab" * 32)
    assert (code, "[head_missing]" in out) == (1, True)
    (key,) = cli("audit", "keys", "--json").json["keys"]
    assert cli("audit", "verify", "--public", key["x"]).code == 0
    other = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
    code, out, _ = cli("audit", "verify", "--public", other)
    assert (code, "[key_unknown]" in out) == (1, True)
    monkeypatch.setenv("LAYOVER_SECRET_AUDIT_KEY", NEW)
    code, out, _ = cli("audit", "verify")
    assert (code, "[key_unknown]" in out) == (1, True)
    monkeypatch.delenv("LAYOVER_SECRET_AUDIT_KEY")
    code, out, _ = cli("audit", "verify")
    assert (code, "only against keys in the database" in out) == (0, True)


@pytest.mark.parametrize("key", ["no key", "{}", '{"keys": 1}', "@nowhere.json"])
def test_a_public_key_that_is_none_is_said(cli: Run, decided: str, key: str) -> None:
    assert decided
    code, out, err = cli("audit", "verify", "--public", key)
    assert (code, out) == (2, "")
    assert err


def test_a_database_that_is_not_there_cannot_be_verified(cli: Run) -> None:
    code, out, err = cli("audit", "verify", "--db", "sqlite:///nowhere.db")
    assert (code, out) == (2, "")
    assert "nowhere.db" in err
    assert not Path("nowhere.db").exists()


def test_keys_are_listed_and_new_ones_fit(cli: Run, decided: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided
    made = cli("audit", "new-key").out.strip()
    assert made != cli("audit", "new-key").out.strip()
    assert len(base64.b64decode(made, validate=True)) == 32
    heading, line = cli("audit", "keys").out.splitlines()
    assert heading.split() == ["ID", "PUBLIC", "KEY", "SINCE", "UNTIL"]
    (key,) = cli("audit", "keys", "--json").json["keys"]
    assert key["kid"] in line
    assert key["x"] in line
    monkeypatch.setenv("LAYOVER_SECRET_AUDIT_KEY", made)
    assert cli("run", "pay.yaml", "--json").code == 10
    id_ = cli("ls", "--json").json["items"][0]["id"]
    assert cli("approve", id_, "--by", "ada").code == 0
    first, second = cli("audit", "keys", "--json").json["keys"]
    assert (first["kid"], first["until"], second["until"]) == (key["kid"], second["since"], None)
    assert cli("audit", "verify").code == 0


def test_a_receipt_is_printed_and_verified(cli: Run, decided: str) -> None:
    receipt = _receipt(cli, decided)
    assert receipt["seal"]["signature"] is not None
    Path("keys.json").write_text(cli("audit", "keys", "--json").out, encoding="utf-8")
    code, out, err = cli("receipt", "verify", "receipt.json", "--key", "@keys.json")
    assert (code, err) == (0, "")
    assert out.startswith("ada did approval.approve at ")
    found = cli("receipt", "verify", "receipt.json", "--key", "@keys.json", "--json").json
    assert (found["ok"], found["user"], found["act"], found["problems"]) == (True, "ada", "approval.approve", [])
    assert cli("audit", "verify", "--head", found["head"]).code == 0


def test_a_receipt_that_was_changed_or_is_of_another_key_proves_nothing(cli: Run, decided: str) -> None:
    receipt = _receipt(cli, decided)
    Path("keys.json").write_text(cli("audit", "keys", "--json").out, encoding="utf-8")
    entry = base64.b64decode(receipt["entry"]).replace(b"ada", b"eve")
    changed = {**receipt, "entry": base64.b64encode(entry).decode()}
    Path("changed.json").write_text(json.dumps(changed), encoding="utf-8")
    code, out, _ = cli("receipt", "verify", "changed.json", "--key", "@keys.json")
    assert code == 1
    assert " did " not in out
    assert cli("receipt", "verify", "changed.json", "--key", "@keys.json", "--json").json["ok"] is False
    other = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
    code, out, _ = cli("receipt", "verify", "receipt.json", "--key", other)
    assert code == 1
    assert " did " not in out
    code, out, err = cli("receipt", "verify", "receipt.json")
    assert (code, out) == (2, "")
    assert "--key" in err
    code, _, err = cli("receipt", "verify", "nowhere.json", "--key", other)
    assert (code, "nowhere.json" in err) == (2, True)


def test_there_is_no_receipt_before_a_decision_is_final(cli: Run) -> None:
    Path("undo.yaml").write_text("name: undo\nnodes:\n  - {id: ok, type: approval, undo: 1h}\n", encoding="utf-8")
    id_ = cli("run", "undo.yaml", "--json").id
    code, out, err = cli("receipt", f"{id_}:ok", "--by", "ada")
    assert (code, out) == (3, "")
    assert "Nothing was decided" in err
    assert cli("approve", id_, "--by", "ada").code == 0
    cli("run", "undo.yaml", "--id", id_)
    code, out, err = cli("receipt", f"{id_}:ok", "--by", "ada")
    assert (code, out) == (4, "")
    assert "can be taken back until" in err


def _receipt(cli: Run, decided: str) -> dict[str, Any]:
    """Get a receipt by both names of its point, and keep it in a file."""
    code, out, err = cli("receipt", decided, "--by", "ada")
    assert (code, err) == (0, "")
    again = cli("receipt", point_of(cli, decided), "--of", "ada")
    assert json.loads(again.out)["entry"] == json.loads(out)["entry"]
    Path("receipt.json").write_text(out, encoding="utf-8")
    return dict(json.loads(out))
