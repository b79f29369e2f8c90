"""The places of answers in line, with those that an execution has not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import Answer, Cancel, Pause
from layover.ports.records import QueuedCommand
from layover.runtime.queries.answer_queue import positions
from tests.core.engine.flows import rehearse

if TYPE_CHECKING:
    from layover.core.engine.commands import AnyCommand

FORMS = """
  - {id: first, type: compute, output: 1, next: [a, b, c]}
  - {id: a, type: form, schema: {required: [n]}}
  - {id: b, type: form}
  - {id: c, type: approval, approvers: {users: [ann, bob]}, need: 2}
"""


def unread(*commands: AnyCommand) -> list[QueuedCommand]:
    return [
        QueuedCommand(n=n, at=n, kind=kind, body=body)
        for n, (kind, body) in enumerate((encode_command(one) for one in commands), start=1)
    ]


def test_what_is_on_its_way_comes_behind_what_has_arrived() -> None:
    flow = rehearse(FORMS).start()
    a, b = flow.point("a").id, flow.point("b").id
    flow.send(Pause())  # so that an answer waits for its turn
    flow.send(Answer(point=b, by="ann"))
    assert positions(flow.state, []) == {b: 1}
    assert positions(flow.state, unread(Answer(point=a, data={"n": 1}))) == {b: 1, a: 2}


def test_what_will_be_refused_has_no_place() -> None:
    flow = rehearse(FORMS).start()
    a, b = flow.point("a").id, flow.point("b").id
    given = [
        Answer(point=a, data={}),
        Answer(point=b),
        Answer(point=b),
        Answer(point="gone"),
        Answer(point=a, data={"n": 1}),
    ]
    assert positions(flow.state, unread(*given)) == {b: 1, a: 2}


def test_an_approval_has_a_place_once_enough_have_decided() -> None:
    flow = rehearse(FORMS).start()
    c = flow.point("c").id
    first, second = Answer(point=c, by="ann", approved=True), Answer(point=c, by="bob", approved=True)
    assert positions(flow.state, unread(first)) == {}
    assert positions(flow.state, unread(first, first)) == {}
    assert positions(flow.state, unread(first, second)) == {c: 1}


def test_other_commands_are_passed_over_also_those_of_a_newer_release() -> None:
    flow = rehearse(FORMS).start()
    b = flow.point("b").id
    newer = msgspec.structs.replace(unread(Cancel())[0], kind="Sing")
    assert positions(flow.state, [newer, *unread(Cancel(), Answer(point=b))]) == {b: 1}
