"""The notifications of the settings: written, checked and compiled like those of a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from layover.core.definitions.check_expressions import ExpressionChecker
from layover.core.definitions.check_notify import NotifyChecker
from layover.core.definitions.limits import DEFAULT_LIMITS
from layover.core.definitions.model import MOST_RULES, DefinitionPart, NotifyDefinition
from layover.core.definitions.parsed_expressions import ParsedExpressions
from layover.core.definitions.read_part import read_part
from layover.core.plan import compile_notify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.definitions.read import Reading
    from layover.core.plan import PlannedNotify


class _Rules(DefinitionPart, frozen=True, kw_only=True):
    noun = "list of notifications"

    notify: Annotated[tuple[NotifyDefinition, ...], Meta(max_length=MOST_RULES)] = ()


def load_notify(rules: object) -> tuple[PlannedNotify, ...]:
    """Return the notifications of the settings, ready to be rendered; InvalidDefinition lists their problems."""
    texts = ParsedExpressions()

    def check(found: _Rules, reading: Reading) -> None:
        expressions = ExpressionChecker(reading, texts, DEFAULT_LIMITS.parts)
        NotifyChecker(reading, expressions, None).check(found.notify)

    return compile_notify(read_part(_Rules, {"notify": rules}, check).notify, texts)


def occasions_of(rules: Iterable[PlannedNotify]) -> frozenset[str]:
    """Return the kinds of occasions that rules tell of."""
    return frozenset(kind for rule in rules for kind in rule.definition.on)
