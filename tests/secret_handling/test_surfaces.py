"""Saving, listing and examining: which workflow may have which secret, and whether there is one."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from layover import Client, Engine, NodeContext, Secret, SecretStatus, Settings
from layover.admin import doctor
from layover.cli.main import run_command
from layover.core.moments import Moment
from layover.engine import runtime_of
from layover.errors import BadUse, ExecutionFailed, InvalidInput, NotAllowed
from layover.model.workflows import Bundle
from tests.api.harness import ADMIN_KEY, listening

if TYPE_CHECKING:
    from pathlib import Path

VALUE = "correct-horse-battery"
FLOW = """
name: billing-eu
secrets: [STRIPE_KEY]
nodes: [{id: charge, type: charge, input: {key: "${secrets.STRIPE_KEY}"}}]
"""
GRANTED = Settings(allow_secrets={"billing-*": ("STRIPE_KEY",)})


async def charge(key: str) -> int:
    return len(key)


class Vault:
    """A provider of the program."""

    async def get(self, name: str) -> Secret | None:
        return Secret(VALUE, "7") if name == "STRIPE_KEY" else None


def at(folder: Path) -> str:
    return f"sqlite:///{folder / 'layover.db'}"


async def test_a_definition_is_saved_only_if_its_secrets_are_granted(tmp_path: Path) -> None:
    async with (
        Engine(at(tmp_path), nodes=[charge]) as engine,
        listening(runtime_of(engine)) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        answered = await api.ask("POST", "/workflows", raw=FLOW.encode(), headers={"content-type": "application/yaml"})
        assert (answered.status, answered.json["code"]) == (422, "secret_not_allowed")
        assert "`billing-eu` may not have the secret `STRIPE_KEY`" in answered.json["detail"]
        for door in (engine, client):
            with pytest.raises(NotAllowed) as raised:
                await door.register(FLOW)
            assert raised.value.code == "secret_not_allowed"
            plain = {"name": "plain", "nodes": [{"id": "e", "type": "end"}]}
            secret = {"name": "secret", "secrets": ["A"], "nodes": [{"id": "e", "type": "end"}]}
            bundle = Bundle(exported_at=engine_moment(engine), workflows=(plain, secret))
            with pytest.raises(NotAllowed):
                await door.import_workflows(bundle)
        assert [one async for one in engine.workflows()] == []


def engine_moment(engine: Engine) -> Moment:
    return Moment.of(runtime_of(engine).instance.clock.now())


async def test_a_grant_that_was_taken_back_counts_when_the_call_is_made(tmp_path: Path) -> None:
    async with Engine(at(tmp_path), nodes=[charge], secrets=[Vault()], settings=GRANTED) as engine:
        await engine.register(FLOW)
        assert await engine.run("billing-eu") == len(VALUE)
    async with Engine(at(tmp_path), nodes=[charge], secrets=[Vault()]) as engine:
        with pytest.raises(ExecutionFailed) as raised:
            await engine.run("billing-eu")
    assert (raised.value.error.code, raised.value.error.retryable) == ("secret_not_allowed", False)


async def test_progress_that_is_shown_has_no_secret(tmp_path: Path) -> None:
    reported, seen = asyncio.Event(), asyncio.Event()

    async def charge(key: str, context: NodeContext) -> None:
        context.progress(1, 2, f"{'.' * 190} {key}")
        reported.set()
        await seen.wait()

    async with Engine(at(tmp_path), nodes=[charge], secrets=[Vault()], settings=GRANTED) as engine:
        await engine.register(FLOW)
        execution = await engine.start("billing-eu")
        await reported.wait()
        (node,) = [one async for one in execution.nodes()]
        assert node.progress is not None
        assert node.progress.text == f"{'.' * 190} ***STRIPE"
        seen.set()
        await execution.result()


async def test_secrets_are_listed_with_where_they_are_from_and_never_with_values(tmp_path: Path) -> None:
    settings = Settings(allow_secrets={"billing-*": ("STRIPE_KEY",), "other": ("*",)})
    async with (
        Engine(at(tmp_path), nodes=[charge], secrets=[Vault()], settings=settings) as engine,
        listening(runtime_of(engine)) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        await engine.register(FLOW)
        await engine.register({"name": "other", "secrets": ["A", "STRIPE_KEY"], "nodes": [{"id": "e", "type": "end"}]})
        await engine.register({"name": "gone", "nodes": [{"id": "e", "type": "end"}]})
        expected = [
            SecretStatus(name="A", found=False, workflows=("other",)),
            SecretStatus(name="STRIPE_KEY", found=True, source="Vault", version="7", workflows=("billing-eu", "other")),
        ]
        for door in (engine, client):
            assert [one async for one in door.secrets()] == expected
            page = await door.secrets().page(limit=1)
            assert (page.items, page.next) == ((expected[0],), "A")
            assert (await door.secrets().page(limit=1, cursor="A")).items == (expected[1],)
        with pytest.raises(NotAllowed):
            await engine.as_user("eve", ["operator"]).secrets().page()
        assert (await api.get("/secrets", as_="eve:operator")).status == 403
        assert VALUE not in (await api.get("/secrets")).body.decode()


async def test_the_command_line_and_the_doctor_tell_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Engine(at(tmp_path), nodes=[charge], settings=GRANTED) as engine:
        await engine.register(FLOW)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAYOVER_DB", at(tmp_path))
    monkeypatch.setenv("LAYOVER_ALLOW_SECRETS", '{"billing-*": ["STRIPE_KEY"]}')
    found = [one for one in (await doctor(at(tmp_path))).findings if "STRIPE_KEY" in one.what]
    assert [(one.health, one.text) for one in found] == [("warning", "not found (declared by billing-eu)")]
    assert await _command("secrets") == 1
    assert "missing" in capsys.readouterr().out
    monkeypatch.setenv("LAYOVER_SECRET_STRIPE_KEY", VALUE)
    assert await _command("secrets", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told == {
        "name": "STRIPE_KEY",
        "found": True,
        "source": "environment",
        "version": "",
        "problem": "",
        "workflows": ["billing-eu"],
        "refused": [],
    }
    findings = (await doctor(at(tmp_path))).findings
    assert [one.text for one in findings if one.what == "secrets"] == ["1 declared, all found"]
    monkeypatch.delenv("LAYOVER_ALLOW_SECRETS")
    assert await _command("secrets") == 1
    out = capsys.readouterr().out
    assert "billing-eu" in out
    assert VALUE not in out
    found = [one for one in (await doctor(at(tmp_path))).findings if "STRIPE_KEY" in one.what]
    assert [one.health for one in found] == ["warning"]


async def _command(*words: str) -> int:
    return await asyncio.to_thread(run_command, [*words])


async def test_a_file_that_others_may_read_is_reported_with_chmod(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Engine(at(tmp_path), nodes=[charge], settings=GRANTED) as engine:
        await engine.register(FLOW)
    file = tmp_path / "secrets"
    file.write_text(f"STRIPE_KEY={VALUE}\n")
    file.chmod(0o644)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAYOVER_DB", at(tmp_path))
    monkeypatch.setenv("LAYOVER_SECRETS_FILE", str(file))
    assert await _command("secrets") == 1
    out = capsys.readouterr().out
    assert "chmod 600" in out
    assert VALUE not in out


def test_what_is_no_grant_and_no_provider_is_refused(tmp_path: Path) -> None:
    for wrong in ({"*": "KEY"}, {"*": [7]}, ["KEY"], {7: ["KEY"]}):
        with pytest.raises(InvalidInput, match="allow_secrets"):
            Engine(at(tmp_path), settings=Settings(allow_secrets=wrong))  # type: ignore[arg-type]  # as others may
    with pytest.raises(BadUse, match="async def get"):
        Engine(at(tmp_path), secrets=[{"KEY": VALUE}])  # type: ignore[list-item]  # as others may
