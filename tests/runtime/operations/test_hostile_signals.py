"""Signals from those who mean harm, or do not know better: refused with a reason, or kept as they are."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.core.payloads import MAX_INLINE, PayloadNotJson, PayloadReserved, PayloadTooLarge
from layover.errors import InvalidInput
from tests.runtime.harness import end, engine_at, flow
from tests.runtime.operations.test_signals import THE_ID, wait_for

if TYPE_CHECKING:
    from layover.errors import LayoverError


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "x" * 256},
        {"name": "a\0b"},
        {"name": "a\ud800"},
        {"name": 7},
        {"name": None},
        {"name": "paid", "key": "x" * 256},
        {"name": "paid", "key": "\0"},
        {"name": "paid", "key": "\udfff"},
        {"name": "paid", "key": None},
        {"name": "paid", "id": ""},
        {"name": "paid", "id": "x" * 256},
        {"name": "paid", "id": "\0"},
        {"name": "paid", "id": b"bytes"},
    ],
)
async def test_texts_that_no_signal_can_have_are_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    async with engine_at(tmp_path) as engine:
        with pytest.raises(InvalidInput) as refused:
            await engine.signals.deliver(**fields)
        assert refused.value.errors[0][0] in fields
        assert await engine.instance.store.signals.list_undispatched(2**60, 10) == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("x" * MAX_INLINE, PayloadTooLarge),
        ("\ud800", PayloadNotJson),
        (object(), PayloadNotJson),
        ({"$secret": "KEY"}, PayloadReserved),
        ({"a": [{"$token": "url"}]}, PayloadReserved),
    ],
    ids=["large", "surrogate", "object", "secret", "token"],
)
async def test_data_that_cannot_be_kept_is_refused(tmp_path: Path, data: object, error: type[LayoverError]) -> None:
    async with engine_at(tmp_path) as engine:
        with pytest.raises(error):
            await engine.signals.deliver("paid", data=data, id="s")
        assert not (await engine.signals.deliver("paid", id="s")).repeated


async def test_texts_at_their_limits_go_all_the_way(tmp_path: Path) -> None:
    name, key, id_ = "n" * 255, "🔑" * 255, "';--%:\n" + "i" * 248
    data = {"text": "\0'\"\\\u2028" + "x" * (MAX_INLINE - 100)}
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow(wait_for(name, key="${input.key}"), end("${nodes.settled.data.text.size()}"))
        )
        started = await engine.executions.start("flow", {"key": key}, wait="rest")
        assert (await engine.signals.deliver(name, key, data, id=id_)).matched == (started.id,)
        assert await engine.executions.result(started.id) == len(data["text"])
        assert (await engine.signals.deliver(name, key, data, id=id_)).repeated


@pytest.mark.parametrize("key", ["x" * 256, "a\0b"])
async def test_a_wait_for_an_invalid_name_or_key_fails(tmp_path: Path, key: str) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(wait_for("${input.name}", key="${input.key}"), THE_ID))
        for given in ({"name": "paid", "key": key}, {"name": key, "key": "k"}, {"name": "", "key": "k"}):
            started = await engine.executions.start("flow", given, wait="end")
            assert started.status == "failed"
            assert started.error is not None
            assert started.error.code == "invalid_argument"
