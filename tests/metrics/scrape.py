"""A scrape as Prometheus sees it: read by the parser of its client library, which refuses what it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from layover.metrics.families import FAMILIES

if TYPE_CHECKING:
    from prometheus_client import Metric


class Scrape(NamedTuple):
    """The metrics of one scrape."""

    families: dict[str, Metric]

    def value(self, name: str, **labels: str) -> float:
        """Return one sample; 0 if there is none."""
        for family in self.families.values():
            for sample in family.samples:
                if sample.name == name and sample.labels == labels:
                    return sample.value
        return 0.0

    @property
    def names(self) -> set[str]:
        """The names of all samples."""
        return {sample.name for family in self.families.values() for sample in family.samples}

    def series(self, name: str) -> list[dict[str, str]]:
        """Return the labels of all samples of a name."""
        return [sample.labels for family in self.families.values() for sample in family.samples if sample.name == name]


def parse(text: bytes) -> Scrape:
    """Parse a scrape, and check that every metric is as it was declared."""
    found = Scrape({family.name: family for family in text_string_to_metric_families(text.decode())})
    for declared in FAMILIES:
        family = found.families[declared.name.removesuffix("_total") if declared.kind == "counter" else declared.name]
        assert (family.type, family.documentation) == (declared.kind, declared.help)
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == set(declared.labels)
    return found
