"""The sealer: what is written is sealed within seconds, by whoever runs, and signed by the newest key."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator  # noqa: TC003 - the same
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover import Engine
from layover.core.audit_proofs import head_of, merkle_root, signed_by_seal
from layover.ports.access import AuditFilter
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.audit.signing import is_signed, key_id_of, signing_key
from layover.runtime.audit.verify import verify_audit
from layover.service.actor import Actor
from tests.audit.signing import NEVER, NEW, NEWEST, OLD, use
from tests.runtime.harness import address_in, engine_at, flow, form

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
async def sealed() -> AsyncIterator[asyncio.Event]:
    """Something was sealed."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def listen(point: CommitPoint) -> None:
        if point is CommitPoint.SEAL_COMMITTED:
            loop.call_soon_threadsafe(event.set)

    watch(listen)
    yield event
    watch(None)


async def act(engine: Runtime, n: int) -> None:
    """Do something that is audited."""
    entry = Actor(engine).entry("workflow.pause", f"w{n}")
    await engine.signals.deliver("s", id=f"s{n}", audit=entry)


async def test_what_is_written_is_sealed_a_second_later(tmp_path: Path, sealed: asyncio.Event) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(flow(form()))
        await sealed.wait()
        assert (await engine.audit().page(1)).items[0].seal == 1


async def test_what_others_have_written_is_found_by_looking(tmp_path: Path, sealed: asyncio.Event) -> None:
    async with engine_at(tmp_path, audit_poll=20) as runtime:
        async with Engine(address_in(tmp_path), drive=False) as command_line:
            await command_line.register(flow(form()))
        await sealed.wait()
        assert not await runtime.instance.store.seals.is_waiting()


async def test_an_engine_that_closes_seals_what_it_has_written(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(flow(form()))
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        (seal,) = await runtime.instance.store.seals.list_seals(0, 9)
        assert (seal.n, seal.count, seal.key_id) == (1, 1, None)
        assert not await runtime.instance.store.seals.is_waiting()


async def test_an_engine_that_closes_seals_what_others_have_written(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path), drive=False) as command_line:
        await command_line.register(flow(form()))
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        assert await runtime.instance.store.seals.is_waiting()
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        assert not await runtime.instance.store.seals.is_waiting()


async def test_a_seal_is_signed_and_its_head_is_the_hash_of_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path, audit_poll=NEVER) as engine:
        use(engine, OLD)
        await act(engine, 1)
        assert await engine.instance.sealer.seal_all() == 1
        (seal,) = await engine.instance.store.seals.list_seals(0, 9)
        (row,) = await engine.instance.store.audit.list_entries(AuditFilter())
        assert seal.root == merkle_root([row.leaf]) == row.leaf
        assert seal.head == head_of(bytes(32), 1, seal.root, 1, 1, seal.at)
        key = signing_key(OLD)
        assert (seal.key_id, key.id) == (key.id, key_id_of(key.public))
        assert seal.signature is not None
        assert is_signed(key.public, seal.signature, signed_by_seal(seal.head))
        assert not is_signed(signing_key(NEW).public, seal.signature, signed_by_seal(seal.head))


async def test_a_key_that_was_followed_by_another_signs_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine_at(tmp_path, audit_poll=NEVER) as engine:
        sealer, seals = engine.instance.sealer, engine.instance.store.seals
        for n, key in enumerate((None, OLD, OLD, NEW)):
            use(engine, key)
            await act(engine, n)
            assert await sealer.seal_all() == 1
        for n, key in ((7, OLD), (8, None)):
            use(engine, key)
            await act(engine, n)
            assert await sealer.seal_all() == 0
        assert "audit_key_retired" in caplog.text
        assert "audit_key_missing" in caplog.text
        assert await seals.is_waiting()
        use(engine, NEWEST)
        assert await sealer.seal_all() == 2
        ids = [signing_key(key).id for key in (OLD, NEW, NEWEST)]
        assert [(key.id, key.first_seal) for key in await seals.list_keys()] == list(zip(ids, (2, 4, 5), strict=True))
        found = await verify_audit(engine.instance.store, current=signing_key(NEWEST).public)
        assert (found.findings, found.unsigned, found.key) == ((), 1, "current")


async def test_the_head_is_in_the_log_once_an_hour(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "layover.sealer")
    async with engine_at(tmp_path, audit_poll=NEVER) as engine:
        for n in range(3):
            await act(engine, n)
            await engine.instance.sealer.seal_all()
        first = await engine.instance.store.seals.find_seal(1)
    said = [one.getMessage() for one in caplog.records if one.getMessage().startswith("audit_sealed")]
    assert first is not None
    assert said == [f"audit_sealed seal=1 entries=1 head={first.head.hex()}"]


@pytest.mark.parametrize("key", ["no base64!", base64.b64encode(b"too short").decode()])
async def test_a_key_that_is_none_is_said_and_nothing_is_sealed_without_it(
    tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine_at(tmp_path, audit_poll=NEVER) as engine:
        use(engine, key)
        await act(engine, 1)
        with pytest.raises(Exception, match="AUDIT_KEY"):
            await engine.instance.sealer.seal_all()
        await act(engine, 2)
    assert "audit_not_sealed" in caplog.text  # it closes all the same
    async with engine_at(tmp_path, audit_poll=NEVER) as engine:
        assert await engine.instance.store.seals.is_waiting()


async def test_no_workflow_may_have_the_signing_key(tmp_path: Path) -> None:
    async with engine_at(tmp_path, allow_secrets={"*": ("*",)}) as engine:
        assert engine.instance.secret_grants.grants("flow", "API_TOKEN")
        assert not engine.instance.secret_grants.grants("flow", "AUDIT_KEY")
