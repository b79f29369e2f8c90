"""`layover doctor --url`: a server examines itself, for those who may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.harness import ADMIN_KEY
from tests.cli.over_http import Served

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_a_server_is_examined_with_the_key_of_an_admin(cli: Run, waiting: str) -> None:
    server = Served()
    try:
        as_operator = server.translated(["ls"])[1:]
        as_admin = (*as_operator[:-1], ADMIN_KEY)
        ran, json = cli("doctor", *as_admin), cli("doctor", *as_admin, "--json").json
        refused = cli("doctor", "asking.yaml", *as_admin)
        denied = cli("doctor", *as_operator)
    finally:
        server.stop()
    assert (ran.code, ran.err, waiting != "") == (0, "", True)
    assert "ok       database: opens; executions: 1 paused" in ran.out
    assert json["ok"] is True
    assert {one["what"] for one in json["findings"]} >= {"clock", "instances", "queue", "outbox"}
    assert refused.code != 0
    assert "workflows and --nodes are for databases" in refused.err
    assert denied.code != 0
