"""Secrets that a source is given are planted in what it returns, raises and logs, and looked for in what is left."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import pytest

from layover import Batch, Client, Item, source
from layover.runtime.runtime import Runtime
from tests.api.harness import ADMIN_KEY, listening
from tests.runtime.harness import address_in, settings_with, store_in
from tests.secret_handling.hunting import KEY, PIN, found_in, found_in_files, found_in_tables
from tests.secret_handling.test_leaks import Planted, logged, said

if TYPE_CHECKING:
    import io
    from pathlib import Path

__all__ = ["logged"]  # a fixture

pytestmark = pytest.mark.usefixtures("each_database")

WITH = {"login": {"key": "${secrets.KEY}"}, "pins": ["${secrets.PIN}"]}
FLOW: dict[str, Any] = {
    "name": "post",
    "secrets": ["KEY", "PIN"],
    "nodes": [{"id": "a", "type": "end", "output": "${input}"}],
    "triggers": [{"name": "mail", "type": "poll", "source": "mailbox", "every": "1s", "with": WITH}],
}


async def test_no_secret_of_a_source_is_left_anywhere(tmp_path: Path, logged: io.StringIO) -> None:
    seen: list[tuple[str, str]] = []
    confirmed: list[str] = []

    @source
    def mailbox(cursor: str | None, login: dict[str, str], pins: list[str]) -> Batch:
        key, pin = login["key"], pins[0]
        seen.append((key, pin))
        logging.getLogger("mailbox").warning("asked with %s and %s", key, pin)
        if len(seen) == 1:
            return Batch([Item("1", said(key, pin))], cursor="1", more=True)
        if len(seen) == 2:
            return Batch([Item(f"2 {pin}")], cursor=f"{cursor}/{key}")
        raise OSError(str(said(key, pin)))

    @mailbox.acknowledge
    def confirm(cursor: str, login: dict[str, str]) -> None:
        confirmed.append(cursor)
        if len(confirmed) == 1:
            raise OSError(f"{cursor} {login['key']}")

    settings = settings_with(allow_secrets={"post": ("*",)})
    async with (
        Runtime(store_in(tmp_path), nodes=[cast("Any", mailbox)], secrets=[Planted()], settings=settings) as runtime,
        listening(runtime) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        await client.register(FLOW)
        trigger = await client.trigger("post/mail")
        while (row := await runtime.instance.store.triggers.find(trigger.id)) is None or row.failures < 2:
            pass
        paths = ("", "/history", "/inputs", "/why")
        answers = [await api.get(f"/triggers/{trigger.id}{path}") for path in paths]
        executions = (await api.get("/executions?workflow=post")).json["items"]
        answers += [await api.get(f"/executions/{one['id']}{path}") for one in executions for path in ("", "/history")]
        answers.append(await api.get("/metrics"))

    assert (seen[0], len(seen), confirmed) == ((KEY, PIN), 3, ["1", "1"])
    assert len(executions) == 1
    assert "asked with" in logged.getvalue()
    assert found_in(logged.getvalue()) == []
    assert found_in("".join(one.body.decode() for one in answers)) == []
    assert found_in_tables(address_in(tmp_path)) == {}
    assert found_in_files(tmp_path) == {}
