"""Nodes found across executions over HTTP, on every database."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.runtime.operations.start_options import Options
from layover.runtime.queries import node_search
from layover.service.cursors import cursor_of
from tests.api.harness import served
from tests.runtime.harness import Scripted, call, end, flow, form

if TYPE_CHECKING:
    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")


async def found(api: Api, query: str, limit: int = 2) -> list[dict[str, Any]]:
    """Turn all pages."""
    items: list[dict[str, Any]] = []
    following = ""
    while True:
        page = await api.get(f"/node-executions?limit={limit}{query}{following}", as_="viewer")
        assert page.status == 200, page.body
        items += page.json["items"]
        assert len(page.json["items"]) <= limit
        if page.json["next"] is None:
            return items
        following = f"&cursor={page.json['next']}"


async def test_nodes_are_found_by_everything_that_is_known_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_search, "MOST_EVENTS", 20)
    work = Scripted(ValueError("no"), 1, 2)
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register({**flow(call("pay"), end(1)), "name": "order"})
        await api.engine.workflows.register({**flow(form("ask"), end(1)), "name": "asking"})
        for tags in (("t",), (), ("t",)):
            await api.engine.executions.start("order", wait="rest", options=Options(tags=tags))
        await api.engine.executions.start("asking", wait="rest")
        everything = await found(api, "", 100)
        assert await found(api, "") == everything

        def of(**wanted: object) -> list[dict[str, Any]]:
            return [one for one in everything if all(one["node"][name] == value for name, value in wanted.items())]

        paid = of(node="pay")
        assert len(paid) == 3
        assert await found(api, "&node=pay") == paid
        assert await found(api, f"&type={paid[0]['node']['type']}") == paid
        assert await found(api, "&type=form") == of(node="ask") != []
        assert await found(api, "&status=failed,waiting") == [*of(status="waiting"), *of(status="failed")]
        (failed,) = await found(api, f"&workflow=order&status=failed&error_code={paid[-1]['node']['error']['code']}")
        assert (failed["execution_status"], failed["workflow"], failed["node"]["node"]) == ("failed", "order", "pay")
        assert await found(api, "&error_code=other") == []
        assert len(await found(api, "&node=pay&tag=t")) == 2
        assert await found(api, "&status=failed&min_resumes=1") == []
        assert await found(api, "&since=2999-01-01T00:00:00Z") == []
        assert await found(api, "&until=2999-01-01T00:00:00Z") == everything
        assert await found(api, "&node=pay&min_duration=0s&max_duration=1h") == paid
        assert await found(api, "&node=pay&min_duration=1h") == []
        assert await found(api, "&node=nowhere") == []


async def test_a_wrong_search_of_nodes_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for query, code in (
            ("status=lost", "invalid_parameter"),
            ("min_duration=long", "invalid_parameter"),
            ("cursor=x", "malformed_cursor"),
            (f"cursor={cursor_of(1, 'x/1')}", "malformed_cursor"),
            (f"cursor={cursor_of(1, 'x')}", "malformed_cursor"),
        ):
            answered = await api.get(f"/node-executions?{query}", as_="viewer")
            assert (answered.status, answered.json["code"]) == (400, code)
