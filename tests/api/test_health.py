from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.harness import served

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")


async def test_a_server_that_lives_says_so_to_anybody(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        answered = await api.get("/healthz", as_="")

    assert answered.status == 200
    assert answered.json["status"] == "ok"
    assert answered.headers["x-content-type-options"] == "nosniff"


async def test_what_is_not_there_is_a_problem(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        answered = await api.get("/nothing", as_="")
        other = await api.post("/healthz", as_="")

    assert (answered.status, answered.code) == (404, "not_found")
    assert (other.status, other.code, other.headers["allow"]) == (405, "method_not_allowed", "GET, HEAD")
