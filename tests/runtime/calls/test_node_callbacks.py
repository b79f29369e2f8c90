"""A function that is to have somebody call back is told where; nobody else is."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.model.shared import encode
from tests.runtime.harness import engine_at, flow, until_status

WAITS = flow({
    "id": "a", "type": "callback", "call": "order", "deadline": "1h", "on_deadline": "fail",
    "input": {"to": "${callback.url}", "word": "${callback.token}", "amount": "${input}"},
})  # fmt: skip


async def test_only_the_function_gets_the_callback_address(tmp_path: Path) -> None:
    told = dict[str, str]()

    async def order(to: str, word: str, amount: int) -> dict[str, object]:
        told.update(to=to, word=word)
        return {"echo": to, "amount": amount}

    async with engine_at(tmp_path, order, public_url="https://flows.example/") as engine:
        await engine.workflows.register(WAITS)
        started = await engine.executions.start("flow", 7)
        await until_status(engine, started.id, "waiting")
        assert told["to"] == f"https://flows.example/api/v1/callbacks/{told['word']}"
        history = await engine.instance.store.queries.read_history(started.id, 0, 1_000)
        assert told["word"].encode() not in b"".join(entry.events for entry in history)
        assert told["word"] not in encode(await engine.queries.nodes(started.id)).decode()


async def test_an_error_that_names_the_address_does_not_tell_the_token(tmp_path: Path) -> None:
    told = list[str]()

    async def order(to: str, word: str, amount: int) -> None:
        told.append(word)
        raise ConnectionError(f"cannot send {to} {amount}")

    async with engine_at(tmp_path, order) as engine:
        await engine.workflows.register(WAITS)
        done = await engine.executions.start("flow", 7, wait="end")
        assert done.error is not None
        assert done.error.message == "cannot send http://localhost:8080/api/v1/callbacks/[token] 7"
        history = await engine.instance.store.queries.read_history(done.id, 0, 1_000)
        assert told[0].encode() not in b"".join(entry.events for entry in history)
