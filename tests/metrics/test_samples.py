from __future__ import annotations

import pytest

from layover.metrics.distribution import Distribution
from layover.metrics.families import SECONDS
from layover.metrics.labels import LabelValues
from layover.metrics.samples import Samples


def some(count: int) -> Samples:
    found, seconds = Samples(), Distribution(SECONDS)
    seconds.observe(0.5 * count)
    found.add("layover_leases_lost_total", count)
    found.add("layover_retries_total", count, "orders")
    found.add_summary("layover_workflow_pause_duration_seconds", 10.0 * count, count, "orders")
    found.add_distribution("layover_commit_duration_seconds", seconds)
    return found


def test_samples_of_two_processes_are_added() -> None:
    found = some(1)
    found.merge(some(2))

    assert found.get("layover_leases_lost_total") == [3]
    assert found.get("layover_retries_total", "orders") == [3]
    assert found.get("layover_workflow_pause_duration_seconds", "orders") == [30.0, 3]
    assert found.get("layover_commit_duration_seconds")[0] == 1.5
    assert sum(found.get("layover_commit_duration_seconds")[1:]) == 2


def test_merging_leaves_the_other_samples_as_they_are() -> None:
    one, two = Samples(), some(2)
    one.merge(two)
    one.merge(some(1))

    assert dict(two.items()) == dict(some(2).items())


def test_histograms_of_other_bounds_are_not_added() -> None:
    found, other = some(1), Samples()
    other.add_distribution("layover_commit_duration_seconds", Distribution((1.0,)))

    with pytest.raises(ValueError, match="zip"):
        found.merge(other)


def test_labels_beyond_the_bound_are_other() -> None:
    labels = LabelValues(most=2)

    assert [labels.bounded(name) for name in ("a", "b", "c", "a", "d")] == ["a", "b", "other", "a", "other"]
