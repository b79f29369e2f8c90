"""Write docs/reference/metrics.md from the metrics and alert rules: python tools/metrics_reference.py [--check]."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from layover.metrics.families import FAMILIES
from layover.metrics.labels import MOST_VALUES
from layover.stores.gauges import MOST, MOST_OF_WORKFLOW, SOME_HEADS

if TYPE_CHECKING:
    from layover.metrics.families import Family

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "metrics.md"
RULES = Path(__file__).parents[1] / "src" / "layover" / "cli" / "monitoring_files" / "layover-alerts.yaml"
HEADING = f"""# Metrics

<!-- Written by tools/metrics_reference.py; change layover/metrics/families.py and the alert rules instead. -->

Everything that `/metrics` gives, in the text format of Prometheus. Lengths of time are in seconds, sizes in bytes, and
counters end in `_total`. [How to set it up](../how-to/monitor.md).

Labels never hold ids. Of values that users choose (`workflow`, `node_type`) the first {MOST_VALUES} of an instance have
labels of their own, and all others are `other`; so are outcomes after the first 20. A route is a template such as
`/api/v1/executions/{{id}}`, a status its class, such as `4xx`.

"""
PARTS = {
    "instance": """## Of an instance

What one process has counted since its start, and how it stands now. Add those of several processes:
`sum(rate(…))`.
""",
    "server": """## Of a server

The same for requests over HTTP.
""",
    "database": f"""## Of the database

What every instance reads from the same database: take the maximum over instances, not the sum. Scrapes wait a second
for it at most. It is read along indexes, not more often than every 5 seconds, and so seldom that it takes a fiftieth of
the time at most; if the database does not answer, the last numbers are given again, and
`layover_store_gauges_age_seconds` says how old they are. Counts stop at {MOST:,}, those of one workflow at
{MOST_OF_WORKFLOW:,}; commands are counted for the first {SOME_HEADS:,} executions that are due.
""",
}


def page() -> str:
    """Return the page as it should be."""
    parts = [HEADING]
    for of, text in PARTS.items():
        families = [family for family in FAMILIES if family.of == of]
        parts += [text, "\n| name | kind | labels | meaning |\n| --- | --- | --- | --- |\n", *map(_row, families), "\n"]
    return "".join([*parts, _bounds(), _alerts()])


def _row(family: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in family.labels)
    return f"| `{family.name}` | {family.kind} | {labels} | {family.help} |\n"


def _bounds() -> str:
    by_bounds: dict[tuple[float, ...], list[str]] = {}
    for family in FAMILIES:
        if family.bounds:
            by_bounds.setdefault(family.bounds, []).append(f"`{family.name}`")
    rows = [
        f"| {', '.join(names)} | {', '.join(f'{bound:,g}' for bound in bounds)} |\n"
        for bounds, names in by_bounds.items()
    ]
    head = "## Buckets\n\nThe upper bounds of histograms.\n\n| histogram | bounds |\n| --- | --- |\n"
    return "".join([head, *rows, "\n"])


def _alerts() -> str:
    head = "## Alerts\n\nThe rules that `layover monitoring` writes. Their limits are a beginning.\n\n"
    table = "| alert | severity | after | when |\n| --- | --- | --- | --- |\n"
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    rows = [
        f"| `{rule['alert']}` | {rule['labels']['severity']} | {rule.get('for', 'at once')} "
        f"| `{rule['expr'].replace('|', chr(92) + '|')}` |\n"
        for rule in rules
    ]
    return "".join([head, table, *rows])


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
