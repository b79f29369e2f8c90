"""What a source is asked with: expressions and secrets in the `with` of its trigger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import Batch, InvalidDefinition, Item, source

if TYPE_CHECKING:
    from layover.testing import Layover

KEY = "the-password-of-the-mailbox"
SECRET = "${secrets.MAIL_KEY}"  # noqa: S105 - a name


def flow(with_: dict[str, Any], **fields: Any) -> dict[str, Any]:
    trigger = {"name": "mail", "type": "poll", "source": "mailbox", "every": "1m", "with": with_, **fields}
    nodes = [{"id": "a", "type": "end", "output": "${input}"}]
    return {"name": "post", "secrets": ["MAIL_KEY"], "nodes": nodes, "triggers": [trigger]}


class Mailbox:
    """A source that notes what it is asked with."""

    def __init__(self, *batches: Batch | Exception) -> None:
        self.given: list[dict[str, Any]] = []
        self.confirmed: list[dict[str, Any]] = []
        self._batches = list(batches)

    @property
    def source(self) -> Any:
        @source(name="mailbox")
        def mailbox(cursor: str | None, **given: Any) -> Batch:  # noqa: ARG001 - it has batches of its own
            self.given.append(given)
            batch = self._batches.pop(0) if self._batches else Batch()
            if isinstance(batch, Exception):
                raise batch
            return batch

        @mailbox.acknowledge
        def confirm(cursor: str, **given: Any) -> None:  # noqa: ARG001 - the same
            self.confirmed.append(given)

        return mailbox


async def test_expressions_are_evaluated_for_each_poll(layover: Layover) -> None:
    mailbox = Mailbox()
    layover.nodes(mailbox.source)
    await layover.register(flow({"who": "${trigger.name}/${trigger.type}", "at": "${trigger.at}", "deep": [{"n": 1}]}))
    await layover.skip("1m")
    assert [one["at"] for one in mailbox.given] == ["2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z"]
    assert mailbox.given[0]["who"] == "mail/poll"
    assert mailbox.given[0]["deep"] == [{"n": 1}]


async def test_a_source_may_change_what_it_is_given(layover: Layover) -> None:
    seen: list[list[int]] = []

    @source
    def mailbox(cursor: str | None, numbers: list[int]) -> Batch:  # noqa: ARG001 - it needs none
        seen.append(list(numbers))
        numbers.append(9)
        return Batch()

    layover.nodes(mailbox)
    await layover.register(flow({"numbers": [1]}))
    await layover.skip("1m")
    assert seen == [[1], [1]]


async def test_a_source_gets_a_secret_and_what_it_returns_or_raises_has_it_no_more(layover: Layover) -> None:
    found = Batch([Item("1", {"said": f"with {KEY}", KEY: 1})], cursor="1")
    mailbox = Mailbox(found, OSError(f"refused {KEY}"))
    layover.secret("MAIL_KEY", KEY)
    layover.nodes(mailbox.source)
    await layover.register(flow({"login": {"user": "me", "password": SECRET}}))
    await layover.settle()
    assert mailbox.given == [{"login": {"user": "me", "password": KEY}}]
    assert mailbox.confirmed == mailbox.given
    (one,) = await layover.executions(workflow="post").all()
    execution = await layover.execution(one.id)
    assert execution.output == {"said": "with ***MAIL_KEY***", "***MAIL_KEY***": 1}
    await layover.skip("1m")
    trigger = await layover.trigger("post/mail")
    assert trigger.reason == "OSError: refused ***MAIL_KEY***"
    assert trigger.definition["with"] == {"login": {"user": "me", "password": SECRET}}
    assert KEY not in str([event async for event in trigger.history()])


@pytest.mark.parametrize("batch", [Batch(cursor=f"page?key={KEY}"), Batch([Item(f"{KEY}-1")], cursor="1")])
async def test_a_cursor_or_an_id_with_a_secret_is_not_kept(layover: Layover, batch: Batch) -> None:
    layover.secret("MAIL_KEY", KEY)
    layover.nodes(Mailbox(batch).source)
    await layover.register(flow({"password": SECRET}))
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    assert (trigger.cursor, trigger.failures) == (None, 1)
    assert "with a secret in it" in trigger.reason
    assert KEY not in str([event async for event in trigger.history()])


async def test_a_poll_waits_for_a_secret_that_is_missing(layover: Layover) -> None:
    mailbox = Mailbox()
    layover.nodes(mailbox.source)
    await layover.register(flow({"password": SECRET}))
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    assert (trigger.state, mailbox.given) == ("initialized", [])
    assert "MAIL_KEY" in trigger.reason
    assert "missing_secret" in {one.kind for one in (await trigger.why()).reasons}
    layover.secret("MAIL_KEY", KEY)
    await layover.skip("1m")
    assert (await trigger.refresh()).state == "active"
    assert mailbox.given[0] == {"password": KEY}


async def test_a_trigger_without_a_definition_uses_a_secret_that_its_workflow_declares(layover: Layover) -> None:
    mailbox = Mailbox()
    layover.secret("MAIL_KEY", KEY)
    layover.nodes(mailbox.source)
    one = flow({"password": SECRET})
    (given,) = one.pop("triggers")
    await layover.register(one)
    await layover.create_trigger("post", given)
    await layover.settle()
    assert mailbox.given == [{"password": KEY}]
    await layover.register({**one, "secrets": []})
    await layover.skip("1m")
    trigger = await layover.trigger("post/mail")
    assert (trigger.state, len(mailbox.given)) == ("initialized", 1)
    assert "does not declare" in trigger.reason


async def test_an_expression_that_cannot_be_evaluated_is_a_failure(layover: Layover) -> None:
    mailbox = Mailbox()
    layover.nodes(mailbox.source)
    await layover.register(flow({"n": "${int(trigger.name)}"}))
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    assert (trigger.failures, mailbox.given) == (1, [])
    assert trigger.reason.startswith("`with`:")


@pytest.mark.parametrize(
    ("with_", "fields", "code"),
    [
        ({"key": "${secrets.OTHER}"}, {}, "undeclared_secret"),
        ({"key": "Bearer ${secrets.MAIL_KEY}"}, {}, "secret_not_alone"),
        ({"key": {"$secret": "MAIL_KEY"}}, {}, "reserved_key"),
        ({"data": "${trigger.data}"}, {}, "expression_unknown_name"),
        ({"data": "${input.x}"}, {}, "expression_unknown_name"),
        ({}, {"input": SECRET}, "secret_exposed"),
    ],
)
async def test_what_cannot_work_is_a_problem_of_the_definition(
    layover: Layover, with_: dict[str, Any], fields: dict[str, Any], code: str
) -> None:
    with pytest.raises(InvalidDefinition) as raised:
        await layover.register(flow(with_, **fields))
    assert [one.code for one in raised.value.problems if one.severity == "error"] == [code]
