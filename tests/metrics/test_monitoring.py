"""The dashboard and the alert rules: every query can be parsed, and asks for what a scrape has."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import promql_parser
import pytest
import yaml

from layover.metrics.families import FAMILIES
from tests.api.harness import served
from tests.metrics.scrape import parse
from tests.metrics.triggered import GRANTED, fire, register_triggered
from tests.runtime.harness import call, flow, form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.metrics.scrape import Scrape

FILES = Path(str(files("layover.cli") / "monitoring_files"))
DASHBOARD: dict[str, Any] = json.loads((FILES / "layover-dashboard.json").read_text())
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((FILES / "layover-alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
MACROS = {"$__rate_interval": "5m", "$job": ".*", "$workflow": ".*"}
NOT_OURS = {"up"}  # Prometheus says itself whether it reaches a target


def queries() -> Iterator[str]:
    """Return all queries, with values in place of what Grafana fills in."""
    for query in [target["expr"] for panel in PANELS for target in panel["targets"]] + [rule["expr"] for rule in RULES]:
        yield reduce(lambda text, macro: text.replace(macro, MACROS[macro]), MACROS, query)


def selected(query: str) -> Iterator[tuple[str, set[str]]]:
    """Return the metrics that a query selects, each with the labels that it is selected by."""
    left = [promql_parser.parse(query)]
    while left:
        node = left.pop()
        if isinstance(node, promql_parser.MatrixSelector):
            node = node.vector_selector
        if isinstance(node, promql_parser.VectorSelector):
            assert node.name is not None
            yield node.name, {matcher.name for matcher in node.matchers.matchers}
            continue
        parts = [getattr(node, part, None) for part in ("lhs", "rhs", "expr", "param")]
        left.extend(part for part in parts if part is not None)
        left.extend(getattr(node, "args", None) or [])


def names_of_family(name: str) -> str:
    return re.sub(r"_(bucket|sum|count)$", "", name) if name not in {family.name for family in FAMILIES} else name


def test_every_query_selects_something() -> None:
    assert all(list(selected(query)) for query in queries())


def test_every_query_names_metrics_and_labels_that_are_declared() -> None:
    declared = {family.name: {*family.labels, "job", "instance"} for family in FAMILIES}
    for query in queries():
        for name, labels in selected(query):
            if name in NOT_OURS:
                continue
            assert names_of_family(name) in declared, query
            assert labels <= declared[names_of_family(name)], query


def test_labels_that_are_grouped_by_are_those_of_the_metric() -> None:
    declared = {family.name: {*family.labels, "job", "instance", "le"} for family in FAMILIES}
    for query in queries():
        known = set().union(*(declared.get(names_of_family(name), {"job", "instance"}) for name, _ in selected(query)))
        for grouped in re.findall(r"(?:by|on) \(([^)]*)\)", query):
            assert set(grouped.split(", ")) <= known, query


async def scrape_of_a_day(folder: Path) -> Scrape:
    """Return a scrape of a server on which a little of everything has happened."""

    async def work() -> str:
        return "well"

    async def fail() -> None:
        raise ValueError("no")

    async with served(folder, work, fail, **GRANTED) as api:
        engine = api.engine
        retry = {"max_attempts": 2, "delay": "1ms", "on_exhausted": "pause"}
        await engine.workflows.register(flow(call("a"), form(), name="ask"))
        await engine.workflows.register(flow(call("a", "fail", retry=retry), name="broken"))
        started = await engine.executions.start("ask", wait="rest")
        (point,) = await engine.points.list(started.id)
        await api.post(f"/pause-points/{point.point.id}/answer", {"data": {}})
        await engine.executions.wait(started.id)
        await engine.executions.start("ask", wait="rest")
        await engine.executions.start("broken", wait="rest")
        await register_triggered(api)
        await fire(api)
        lag = engine.loop_lag
        assert lag is not None
        while not sum(lag.counts):
            await api.get("/healthz")
        return parse((await api.get("/metrics")).body)


async def test_every_query_names_series_that_a_real_scrape_has(tmp_path: Path) -> None:
    found = await scrape_of_a_day(tmp_path)

    for query in queries():
        for name, _ in selected(query):
            assert name in found.names | NOT_OURS, query
    assert not {family.name for family in FAMILIES} - {names_of_family(name) for name in found.names}


def test_every_metric_is_on_the_dashboard_or_in_a_rule() -> None:
    """A metric that nobody looks at need not be exported."""
    asked = {names_of_family(name) for query in queries() for name, _ in selected(query)}
    assert {family.name for family in FAMILIES} - asked == {"layover_store_gauges_failures_total"}


def test_the_dashboard_is_the_one_that_is_made() -> None:
    path = Path(__file__).parents[2] / "tools" / "dashboard.py"
    spec = importlib.util.spec_from_file_location("dashboard", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.page(), "run python tools/dashboard.py"


def test_the_dashboard_has_the_shape_that_grafana_imports() -> None:
    assert {"title", "uid", "schemaVersion", "panels", "templating", "time"} <= DASHBOARD.keys()
    assert DASHBOARD["schemaVersion"] >= 36  # from then on a data source is an object
    assert "id" not in DASHBOARD  # Grafana gives it
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in PANELS:
        assert {"id", "type", "title", "gridPos", "targets", "fieldConfig", "options", "datasource"} <= panel.keys()
        references = [target["refId"] for target in panel["targets"]]
        assert references
        assert len(set(references)) == len(references)
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
    names = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD))) - {"__rate_interval", "__all"}
    assert used == names


def test_no_panels_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        grid = panel["gridPos"]
        assert grid["x"] + grid["w"] <= 24
        cells = {
            (x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_every_alert_says_what_happened_and_how_bad_it_is() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")


def test_every_alert_has_a_test() -> None:
    text = (Path(__file__).parent / "alerts.yaml").read_text()
    assert [rule["alert"] for rule in RULES if not re.search(rf"\b{rule['alert']}\b", text)] == []


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not on the PATH: it is in Debian's package prometheus")
    return found


def test_prometheus_accepts_rules_and_configuration(promtool: str) -> None:
    for kind, name in (("rules", "layover-alerts.yaml"), ("config", "prometheus.yml")):
        done = subprocess.run([promtool, "check", kind, name], cwd=FILES, capture_output=True, text=True, check=False)  # noqa: S603 - Prometheus's own program
        assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_when_they_should(promtool: str, tmp_path: Path) -> None:
    shutil.copy(FILES / "layover-alerts.yaml", tmp_path)
    shutil.copy(Path(__file__).parent / "alerts.yaml", tmp_path)
    done = subprocess.run(  # noqa: S603 - Prometheus's own program
        [promtool, "test", "rules", "alerts.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def test_prometheus_finds_nothing_to_complain_of_in_a_scrape(promtool: str, tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        text = (await api.get("/metrics")).body
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)  # noqa: ASYNC221, S603 - it is quick
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")
