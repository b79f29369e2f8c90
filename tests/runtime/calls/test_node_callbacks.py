"""A function that is to have somebody call back is told where; nobody else is."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import msgspec

from tests.runtime.harness import engine_at, flow, until_status

WAITS = flow({
    "id": "a", "type": "callback", "call": "order", "deadline": "1h", "on_deadline": "fail",
    "input": {"to": "${callback.url}", "word": "${callback.token}", "amount": "${input}"},
})  # fmt: skip


async def test_a_function_is_told_where_to_call_back_and_nobody_else_is(tmp_path: Path) -> None:
    told = dict[str, str]()

    async def order(to: str, word: str, amount: int) -> dict[str, object]:
        told.update(to=to, word=word)
        return {"echo": to, "amount": amount}

    async with engine_at(tmp_path, order, public_url="https://flows.example/") as engine:
        await engine.register(WAITS)
        started = await engine.start("flow", 7)
        await until_status(engine, started.id, "waiting")
        assert told["to"] == f"https://flows.example/api/v1/callbacks/{told['word']}"
        history = await engine.instance.store.history(started.id, 0, 1_000)
        assert told["word"].encode() not in b"".join(entry.events for entry in history)
        assert told["word"] not in msgspec.json.encode(await engine.nodes(started.id)).decode()


async def test_an_error_that_names_the_address_does_not_tell_the_token(tmp_path: Path) -> None:
    told = list[str]()

    async def order(to: str, word: str, amount: int) -> None:
        told.append(word)
        raise ConnectionError(f"cannot send {to} {amount}")

    async with engine_at(tmp_path, order) as engine:
        await engine.register(WAITS)
        done = await engine.start("flow", 7, wait="end")
        assert done.error is not None
        assert done.error.message == "cannot send http://localhost:8080/api/v1/callbacks/[token] 7"
        history = await engine.instance.store.history(done.id, 0, 1_000)
        assert told[0].encode() not in b"".join(entry.events for entry in history)
