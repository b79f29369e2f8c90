from __future__ import annotations

import pytest

from layover.metrics.distribution import Distribution
from layover.metrics.families import FAMILIES, SECONDS, SIZES
from layover.metrics.samples import Samples
from layover.metrics.text import render
from tests.metrics.scrape import parse


def test_the_client_library_reads_what_is_written() -> None:
    samples, seconds = Samples(), Distribution(SECONDS)
    for value in (0.0004, 0.001, 0.3, 99.0):
        seconds.observe(value)
    samples.add("layover_executions_due", 7)
    samples.add("layover_retries_total", 2, "orders")
    samples.add_summary("layover_workflow_pause_duration_seconds", 12.5, 3, "orders")
    samples.add_distribution("layover_commit_duration_seconds", seconds)

    found = parse(render(samples))

    assert found.value("layover_executions_due") == 7
    assert found.value("layover_retries_total", workflow="orders") == 2
    assert found.value("layover_workflow_pause_duration_seconds_sum", workflow="orders") == 12.5
    assert found.value("layover_workflow_pause_duration_seconds_count", workflow="orders") == 3
    assert found.value("layover_commit_duration_seconds_bucket", le="0.001") == 2
    assert found.value("layover_commit_duration_seconds_bucket", le="0.5") == 3
    assert found.value("layover_commit_duration_seconds_bucket", le="+Inf") == 4
    assert found.value("layover_commit_duration_seconds_count") == 4
    assert found.value("layover_commit_duration_seconds_sum") == pytest.approx(99.3014)


def test_no_label_breaks_out_of_its_quotes() -> None:
    hostile = 'a"} 1\nlayover_executions_due 99\\'
    samples = Samples()
    samples.add("layover_retries_total", 1, hostile)

    found = parse(render(samples))

    assert found.series("layover_retries_total") == [{"workflow": hostile}]
    assert found.value("layover_executions_due") == 0


def test_a_metric_that_is_not_declared_is_a_fault() -> None:
    samples = Samples()
    samples.add("layover_surprises", 1)

    with pytest.raises(ValueError, match="layover_surprises"):
        render(samples)


def test_names_kinds_and_units_follow_the_rules_of_prometheus() -> None:
    for family in FAMILIES:
        assert family.name.startswith("layover_") or family.name in {
            "workflow_executions_paused_total",
            "workflow_executions_resumed_total",
            "workflow_executions_resume_errors_total",
            "workflow_resumer_worker_cycle_duration_seconds",
            "workflow_executions_pause_duration_seconds",
        }
        assert (family.kind == "counter") == family.name.endswith("_total"), family.name
        assert (family.kind == "histogram") == bool(family.bounds), family.name
        assert family.help.endswith(".")
        assert list(family.bounds) == sorted(set(family.bounds))
        if family.kind in ("histogram", "summary") and family.bounds != SIZES:
            assert family.name.endswith("_seconds"), family.name
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
