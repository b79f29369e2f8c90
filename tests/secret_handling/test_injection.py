"""Data that looks like a secret is data: only what the definition itself wrote is resolved.

Two walls: values from outside cannot have the key `$secret`; and if one got through, by an old log or by a mistake, its
position is not one of the plan's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from aiohttp import web

from layover import Engine, Settings
from layover.core.engine import commands as cmd
from layover.core.engine.effects import MakeCall, effects
from layover.core.payloads import copy_plain
from layover.core.plan import load
from layover.engine import runtime_of
from layover.errors import AnswerRefused, ExecutionFailed, InvalidInput
from layover.runtime.secrets.call_secrets import CallSecrets
from layover.runtime.secrets.registered_values import RegisteredValues
from layover.testing import Rehearsal
from tests.api.harness import listening
from tests.nodes.http_site import site_of

if TYPE_CHECKING:
    from pathlib import Path

    from layover.testing import Layover

VALUE = "correct-horse-battery"
ATTACKS: list[object] = [
    {"$secret": "KEY"},
    {"a": [{"b": {"$secret": "KEY"}}]},
    {"$secret": "KEY", "more": 1},
    {"$secret": ["KEY"]},
]
TEXTS = ["${secrets.KEY}", '{"$secret": "KEY"}', "$secret", "***KEY***"]
FLOW = """
name: pay
secrets: [KEY]
nodes:
  - {id: ask, type: form, schema: {}, deadline: 1d, on_deadline: fail, next: [wait]}
  - {id: wait, type: wait_signal, signal: go, deadline: 1d, on_deadline: fail, next: [make]}
  - {id: make, type: make, next: [pay]}
  - id: pay
    type: pay
    input:
      key: "${secrets.KEY}"
      input: "${input}"
      answer: "${nodes.ask}"
      signal: "${nodes.wait.data}"
      made: "${nodes.make}"
      parsed: ["${default(input.text, '')}"]
"""


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_reference_from_outside_is_refused_at_every_door(layover: Layover, attack: object) -> None:
    layover.secret("KEY", VALUE)
    pay = layover.fake("pay")
    layover.fake("make", returns=attack)
    await layover.register(FLOW)
    with pytest.raises(InvalidInput) as raised:
        await layover.start("pay", attack)
    assert raised.value.code == "payload_reserved"
    with pytest.raises(InvalidInput):
        await layover.start("pay", {}, trigger=attack)
    execution = await layover.start("pay", {})
    with pytest.raises((InvalidInput, AnswerRefused)):
        await execution.answer("ask", attack)
    with pytest.raises(InvalidInput):
        await layover.signal("go", attack)
    await execution.answer("ask", {"fine": 1})
    await layover.signal("go", {"fine": 2})
    assert execution.error is not None  # what a function returned is refused as well
    assert execution.error.code == "payload_reserved"
    assert pay.inputs == []


@pytest.mark.parametrize("text", TEXTS)
async def test_texts_that_look_like_secrets_stay_texts(layover: Layover, text: str) -> None:
    layover.secret("KEY", VALUE)
    pay = layover.fake("pay")
    layover.fake("make", returns={"text": text})
    execution = await layover.start(FLOW, {"text": text})
    await execution.answer("ask", {"text": text})
    await layover.signal("go", {"text": text})
    given = cast("dict[str, object]", pay.inputs[0])
    assert given.pop("key") == VALUE
    assert VALUE not in repr(given)
    assert repr(given).count(repr(text)) == 5


async def test_expressions_cannot_make_a_reference(layover: Layover) -> None:
    layover.secret("KEY", VALUE)
    taken = layover.fake("take")
    for made in ("${ {input.k: 'KEY'} }", "${ parseJson(input.json) }"):
        flow = f"name: m\nsecrets: [KEY]\nnodes: [{{id: t, type: take, input: {{a: {made!r}}}}}]"
        execution = await layover.start(flow, {"k": "$secret", "json": '{"$secret": "KEY"}'})
        assert execution.status == "failed"
    assert taken.inputs == []


async def test_a_child_is_not_given_the_secrets_of_its_parent(layover: Layover) -> None:
    layover.secret("KEY", VALUE)
    take = layover.fake("take")
    await layover.register("name: child\nnodes: [{id: t, type: take, input: {a: '${input.a}'}}]")
    with pytest.raises(InvalidInput):
        await layover.start("child", {"a": {"$secret": "KEY"}})
    parent = "name: parent\nsecrets: [KEY]\nnodes: [{id: c, type: workflow, workflow: child, input: {a: '${input}'}}]"
    await layover.start(parent, "${secrets.KEY}")
    assert take.inputs == [{"a": "${secrets.KEY}"}]


def test_a_reference_in_an_old_log_is_not_resolved_where_the_plan_has_none() -> None:
    """Go around the gate: the core takes what it is given, as from a log that was written before there was a gate."""
    plan = load(
        """
name: w
secrets: [KEY, OTHER]
variables: {v: 1}
nodes:
  - {id: a, type: f, next: [b]}
  - {id: b, type: g, input: {key: "${secrets.KEY}", list: ["${input}", "${secrets.OTHER}"], all: "${nodes.a}"}}
"""
    )
    flow = Rehearsal(plan)
    attack = {"$secret": "KEY"}
    flow.send(cmd.Create(id="execution", input=attack))
    made = effects(flow.state, flow.send(cmd.Complete(node="a", attempt=1, output={"x": [attack], "key": attack})))
    (call,) = [one for one in made if isinstance(one, MakeCall)]
    assert call.input == {
        "key": {"$secret": "KEY"},
        "list": [{"$secret": "KEY"}, {"$secret": "OTHER"}],
        "all": {"x": [{"$secret": "KEY"}], "key": {"$secret": "KEY"}},
    }
    secrets = CallSecrets(call.secrets, {"KEY": VALUE, "OTHER": "staple-battery"}, RegisteredValues())
    assert secrets.fill(copy_plain(call.input)) == {
        "key": VALUE,
        "list": [attack, "staple-battery"],
        "all": {"x": [attack], "key": attack},
    }
    secrets.release()


def test_a_position_is_filled_only_if_its_own_reference_is_there() -> None:
    secrets = CallSecrets([(("a", 0), "KEY"), (("b",), "KEY"), ((), "KEY")], {"KEY": VALUE}, RegisteredValues())
    harmless: tuple[object, ...] = (
        {"a": [{"$secret": "OTHER"}], "b": "x"},
        {"a": {"0": 1}},
        {"a": []},
        {},
        None,
        [1],
        "b",
        7,
    )
    for given in harmless:
        assert secrets.fill(copy_plain(given)) == given
    assert secrets.fill({"$secret": "KEY"}) == VALUE
    secrets.release()


async def test_a_callback_and_a_resume_cannot_bring_a_reference(layover: Layover) -> None:
    layover.secret("KEY", VALUE)
    order, take = layover.fake("order"), layover.fake("take")
    flow = """
name: order
secrets: [KEY]
nodes:
  - {id: o, type: callback, call: order, input: {token: "${callback.token}", key: "${secrets.KEY}"}, next: [t]}
  - {id: t, type: take, input: {key: "${secrets.KEY}", data: "${nodes.o}"}}
"""
    execution = await layover.start(flow)
    token = str(cast("dict[str, object]", order.inputs[0])["token"])
    with pytest.raises(InvalidInput):
        await layover.callback(token).complete({"$secret": "KEY"})
    await execution.pause()
    with pytest.raises(InvalidInput):
        await execution.resume({"a": {"$secret": "KEY"}})
    await execution.resume()
    await layover.callback(token).complete({"a": "${secrets.KEY}"})
    assert take.inputs == [{"key": VALUE, "data": {"a": "${secrets.KEY}"}}]


async def test_what_a_server_answers_over_http_is_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_SECRET_KEY", VALUE)
    settings = Settings(allow_secrets={"*": ("*",)}, http_private=True)

    async def take(key: str, data: object) -> object:
        assert key == VALUE
        return data

    def answer(_request: web.BaseRequest) -> web.Response:
        return web.json_response({"a": {"$secret": "KEY"}})

    async with (
        site_of(answer) as site,
        Engine(f"sqlite:///{tmp_path / 'l.db'}", nodes=[take], settings=settings) as engine,
        listening(runtime_of(engine)) as api,
    ):
        flow = f"""
name: w
secrets: [KEY]
nodes:
  - {{id: a, type: http, url: "{site.url()}", next: [b]}}
  - {{id: b, type: take, input: {{key: "${{secrets.KEY}}", data: "${{nodes.a.body}}"}}}}
"""
        await engine.register(flow)
        with pytest.raises(ExecutionFailed) as raised:
            await engine.run("w")
        assert raised.value.error.code == "payload_reserved"
        raw = b'{"workflow": "w", "input": {"\\u0024secret": "KEY"}}'
        answered = await api.ask("POST", "/executions", raw=raw)
        assert (answered.status, b"payload_reserved" in answered.body) == (422, True)
