"""`layover views`, and `layover ls --view`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_a_saved_view_lists_what_its_filters_do(cli: Run, waiting: str) -> None:
    assert cli("views", "ls").out.strip() == "No views."
    assert cli("views", "save", "mine", "--status", "paused", "--where", "name=Ada", "--since", "1h").code == 0
    assert cli("views", "save", "others", "--where", "name=Bob").code == 0
    assert [one["name"] for one in cli("views", "ls", "--json").json["items"]] == ["mine", "others"]
    assert cli("views", "ls", "--json").json["items"][0]["filter"]["since"] == "1h"
    assert [one["id"] for one in cli("ls", "--view", "mine", "--json").json["items"]] == [waiting]
    assert cli("ls", "--view", "others", "--json").json["items"] == []
    assert cli("ls", "--view", "mine", "--status", "failed", "--json").json["items"] == []
    assert "mine" in cli("views", "ls").out
    assert cli("views", "delete", "mine").code == 0
    code, _, err = cli("ls", "--view", "mine")
    assert code != 0
    assert "no view `mine`" in err
    assert cli("views", "save", "mine", "--since", "soon").code == 2


def test_nodes_of_all_executions_are_listed(cli: Run, waiting: str) -> None:
    (found,) = cli("nodes", "--status", "waiting", "--since", "1h", "--json").json["items"]
    assert (found["execution_id"], found["node"]["status"]) == (waiting, "waiting")
    assert waiting in cli("nodes", "--type", found["node"]["type"]).out
    assert cli("nodes", "--node", "nowhere").out.strip() == "No nodes."
    assert cli("nodes", "--status", "lost").code == 2
    assert "--cursor" in cli("nodes", "--limit", "1").err
