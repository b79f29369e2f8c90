"""What can be checked of notifications, and of what a `send` node sends, before anything is sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from layover.core.definitions.model import InlineDestination
from layover.core.expressions import DYN, INT, STRING, RecordType, Type
from layover.core.notifications import POINT_OCCASIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from layover.core.definitions.check_expressions import ExpressionChecker
    from layover.core.definitions.model import DefinitionPart, NotifyDefinition
    from layover.core.definitions.read import Reading
    from layover.core.definitions.tree import Tree

_ADDRESS: Final = re.compile(r"[^@\s<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[^@\s<>,;:\"()\[\]\\/\x00-\x1f\x7f]{1,253}")
_WORDS: Final = ("people", "requester")
_NAMED: Final = re.compile(r"(user|role):[^\x00-\x1f\x7f]{1,250}")
_FORMS: Final = "`people`, `requester`, `user:NAME`, `role:NAME` or a mail address"
_WEB: Final = re.compile(r"https?://[^/\s]", re.IGNORECASE)

# The names in the texts of a notification. What else an event has depends on its kind.
TEXT_NAMES: Final[dict[str, Type]] = {
    "event": RecordType({"kind": STRING, "at": STRING, "number": INT}),
    "point": RecordType({"id": STRING, "title": STRING, "kind": STRING, "node": STRING, "deadline": DYN, "shown": DYN}),
    "execution": RecordType({"id": STRING, "workflow": STRING, "input": DYN, "user": DYN}),
    "workflow": STRING,
    "link": STRING,
}


def is_recipient(text: str) -> bool:
    """Return whether a text says whom to tell: a word, a user, a role, or a mail address."""
    return text in _WORDS or _NAMED.fullmatch(text) is not None or _ADDRESS.fullmatch(text) is not None


class NotifyChecker:
    """Checks notifications; secrets have to be among those that are `declared`, unless None are asked for."""

    def __init__(self, reading: Reading, expressions: ExpressionChecker, declared: Collection[str] | None) -> None:
        self._reading = reading
        self._expressions = expressions
        self._declared = declared

    def check(self, rules: Sequence[NotifyDefinition]) -> None:
        """Report every problem of notifications."""
        for rule in rules:
            self._expressions.check_part(rule, TEXT_NAMES)
            self.check_recipients(rule, rule.to)
            self.check_destination(rule.via)
            self._check_occasions(rule)

    def check_recipients(self, part: DefinitionPart, recipients: Sequence[str]) -> None:
        """Report recipients that cannot be understood."""
        for index, one in enumerate(recipients):
            if not is_recipient(one):
                tree = self._item(part, "to", index)
                what = f"`to` is {_FORMS}, not {one!r:.100}"
                self._reading.problems.unknown("bad_recipient", tree.place, what, one, _WORDS)

    def check_destination(self, via: object) -> None:
        """Report a destination that cannot be reached, or would be signed with a secret that is not declared."""
        if not isinstance(via, InlineDestination):
            return
        site, problems = self._reading.site(via), self._reading.problems
        if not _WEB.match(via.webhook):
            place = (site.get("webhook") or site).place
            problems.add("bad_value", place, "`webhook` starts with `https://` and a host; it has no templates.")
        for secret in via.secret:
            if self._declared is not None and secret.name not in self._declared:
                message = f"The secret `{secret.name}` is not declared: add it to `secrets` of the definition."
                problems.add("undeclared_secret", (site.get("secret") or site).place, message)

    def _check_occasions(self, rule: NotifyDefinition) -> None:
        """Report people who are asked for where no point asks anybody."""
        others = sorted(set(rule.on).difference(POINT_OCCASIONS))
        if "people" in rule.to and others:
            tree = self._item(rule, "to", rule.to.index("people"))
            message = f"`people` are those whom a pause point asks, and `{others[0]}` is not about one."
            self._reading.problems.add("bad_recipient", tree.place, message)

    def _item(self, part: DefinitionPart, field: str, index: int) -> Tree:
        site = self._reading.site(part)
        listed = site.get(field)
        if listed is not None and isinstance(listed.value, list) and index < len(listed.value):
            return listed.value[index]
        return listed or site
