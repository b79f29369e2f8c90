"""Calls get secrets where their definition has them; the log has names, and masks in what comes out."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, cast

import pytest

from layover import NodeContext, SyncNodeContext, Workflow
from layover.errors import InvalidInput
from layover.model.shared import encode

if TYPE_CHECKING:
    from layover import ExecutionHandle
    from layover.testing import Layover

VALUE, NEXT = "correct-horse-battery", "staple-battery-horse"
FLOW = """
name: pay
secrets: [KEY]
nodes:
  - {id: charge, type: charge, input: {key: "${secrets.KEY}", amount: "${input}"}, retry: {max_attempts: 3, delay: 10s}}
"""


async def log_of(execution: ExecutionHandle) -> str:
    """Return all that is in the log of an execution, and what is shown of it."""
    events = [encode(one).decode() async for one in execution.history()]
    nodes = [encode(one).decode() async for one in execution.nodes()]
    return "\n".join([*events, *nodes, encode(await execution.why()).decode()])


async def test_a_call_has_the_value_and_the_log_has_the_name(layover: Layover) -> None:
    seen: list[object] = []

    async def charge(key: str, amount: int) -> dict[str, object]:
        seen.append((key, amount))
        return {"with": key, "b64": f"x{key}y", key: amount}

    layover.secret("KEY", VALUE)
    layover.nodes(charge)
    execution = await layover.start(FLOW, 7)
    assert seen == [(VALUE, 7)]
    assert execution.output == {"with": "***KEY***", "b64": "x***KEY***y", "***KEY***": 7}
    told = await log_of(execution)
    assert '{"$secret":"KEY"}' in told
    assert VALUE not in told


async def test_a_rotated_secret_counts_without_a_restart(layover: Layover) -> None:
    charge = layover.fake("charge", returns="paid")
    layover.secret("KEY", VALUE)
    await layover.start(FLOW, 1)
    layover.secret("KEY", NEXT)
    await layover.start(FLOW, 1)
    await layover.skip("30s")
    await layover.start(FLOW, 1)
    assert [cast("dict[str, object]", call)["key"] for call in charge.inputs] == [VALUE, VALUE, NEXT]


async def test_a_missing_secret_is_retried_by_its_policy_and_named_by_why(layover: Layover) -> None:
    charge = layover.fake("charge", returns="paid")
    execution = await layover.start(FLOW, 1)
    why = await execution.why()
    assert "secret_missing" in encode(why).decode()
    assert "LAYOVER_SECRET_KEY" in encode(why).decode()
    assert not charge.inputs
    layover.secret("KEY", VALUE)
    await layover.skip("10s")
    assert execution.output == "paid"


async def test_a_secret_that_stays_away_fails_the_node(layover: Layover) -> None:
    layover.fake("charge", returns="paid")
    execution = await layover.start(FLOW, 1)
    await layover.skip("1m")
    assert execution.status == "failed"
    assert execution.error is not None
    assert (execution.error.code, execution.error.attempt) == ("secret_missing", 3)


async def test_what_a_function_raises_has_no_secret_nor_have_its_causes(layover: Layover) -> None:
    async def charge(key: str, amount: int) -> None:
        try:
            _ = dict[str, str]()[key]
        except KeyError as error:
            raise type(f"Error{key}", (RuntimeError,), {})(f"{amount}: " + json.dumps([key] * 300)) from error

    layover.secret("KEY", VALUE)
    layover.nodes(charge)
    execution = await layover.start(FLOW, 1)
    await layover.skip("1m")
    assert execution.status == "failed"
    told = await log_of(execution)
    assert "***KEY***" in told
    assert VALUE not in told
    assert "correct-horse" not in told


async def test_records_checkpoints_questions_and_progress_have_no_secret(layover: Layover) -> None:
    async def charge(key: str, amount: int, context: NodeContext) -> object:
        context.progress(1, 2, f"{'x' * 190} {key}")
        await context.checkpoint({"key": key})
        recorded = await context.once("login", lambda: {"session": f"of {key}"})
        answer = await context.ask("really", {"type": "object", "title": key}, title=f"Pay {amount} with {key}?")
        return {"recorded": recorded, "answer": answer, "restored": context.restored}

    layover.secret("KEY", VALUE)
    layover.nodes(charge)
    execution = await layover.start(FLOW, 7)
    (point,) = [one async for one in execution.points()]
    assert "***KEY***" in point.info.title
    before = await log_of(execution) + encode(point.info).decode()
    await point.answer({"yes": True})
    assert execution.output == {
        "recorded": {"session": "of ***KEY***"},
        "answer": {"yes": True},
        "restored": {"key": "***KEY***"},
    }
    assert VALUE not in before + await log_of(execution)


async def test_a_function_on_a_thread_is_given_secrets_too(layover: Layover) -> None:
    def charge(key: str, amount: int, context: SyncNodeContext) -> object:
        assert key == VALUE
        return [amount, context.once("a", lambda: key), key]

    layover.secret("KEY", VALUE)
    layover.nodes(charge)
    execution = await layover.start(FLOW, 7)
    assert execution.output == [7, "***KEY***", "***KEY***"]


async def test_a_key_of_a_record_cannot_have_a_secret(layover: Layover) -> None:
    async def charge(key: str, amount: int, context: NodeContext) -> object:
        return await context.once(f"charge-{amount}-{key}", lambda: 1)

    layover.secret("KEY", VALUE)
    layover.nodes(charge)
    execution = await layover.start(FLOW, 7)
    assert execution.error is not None
    assert execution.error.code == "bad_use"
    assert VALUE not in await log_of(execution)


async def test_an_output_that_masks_make_too_large_is_refused(layover: Layover) -> None:
    name = "K" * 64
    layover.secret(name, "12345678")
    layover.fake("work", side_effect=lambda key: [key] * 80_000)
    text = f'name: a\nsecrets: [{name}]\nnodes: [{{id: w, type: work, input: {{key: "${{secrets.{name}}}"}}}}]'
    execution = await layover.start(text)
    assert execution.error is not None
    assert execution.error.code == "payload_too_large"


async def test_a_callback_and_its_probe_are_given_secrets(layover: Layover) -> None:
    given: list[object] = []

    async def order(key: str, reply: str) -> str:
        given.append((key, reply.startswith("http")))
        return f"{key} {reply}"

    layover.secret("KEY", VALUE)
    layover.nodes(order)
    execution = await layover.start(
        """
name: order
secrets: [KEY]
nodes:
  - id: o
    type: callback
    call: order
    input: {key: "${secrets.KEY}", reply: "${callback.url}"}
    deadline: 1d
    on_deadline: fail
"""
    )
    assert given == [(VALUE, True)]
    assert VALUE not in await log_of(execution)


async def test_a_workflow_in_python_declares_its_secrets(layover: Layover) -> None:
    async def charge(key: str) -> int:
        return len(key)

    flow = Workflow("pay", secrets=["KEY"])
    flow.call("charge", charge, input={"key": "${secrets.KEY}"})
    layover.secret("KEY", VALUE)
    execution = await layover.start(flow)
    assert (await execution.why()).summary
    assert [one.output async for one in execution.nodes()] == [len(VALUE)]


@pytest.mark.parametrize(("name", "value"), [("key", VALUE), ("KEY", "short")])
async def test_a_test_gives_secrets_that_could_be_secrets(layover: Layover, name: str, value: str) -> None:
    with pytest.raises(InvalidInput):
        layover.secret(name, value)


async def test_lines_of_a_function_are_masked_by_a_filter(layover: Layover, caplog: pytest.LogCaptureFixture) -> None:
    from layover.logs import SecretFilter  # noqa: PLC0415 - beside its only use

    async def charge(key: str, amount: int) -> None:
        try:
            int(key)
        except ValueError:
            logging.getLogger("shop").exception("paying %d with %s", amount, key, extra={"detail": key})

    layover.secret("KEY", VALUE)
    layover.nodes(charge)
    caplog.handler.addFilter(SecretFilter())
    await layover.start(FLOW, 7)
    (record,) = [one for one in caplog.records if one.name == "shop"]
    assert record.getMessage() == "paying 7 with ***KEY***"
    assert VALUE not in caplog.text + str(record.__dict__["detail"])
