"""The notifications of a workflow in Python.

flow = Workflow("refund")
flow.notify("pause.opened", to="people", via="mail")
flow.notify(["execution.failed", "pause.expired"], via="ops-chat", text="${workflow} needs a look: ${link}")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.core.notifications import OccasionKind


class NotifyBuilder:
    """The notifications of a workflow that is being built."""

    heading: dict[str, object]

    def notify(
        self,
        on: OccasionKind | Sequence[OccasionKind],
        *,
        via: str | Mapping[str, object],
        to: str | Sequence[str] = (),
        subject: str = "",
        text: str = "",
    ) -> None:
        """Tell somebody of occasions, by a destination; a `text` replaces the default one."""
        rule: dict[str, object] = {"on": [on] if isinstance(on, str) else [*on]}
        if to:
            rule["to"] = [to] if isinstance(to, str) else [*to]
        rule["via"] = via if isinstance(via, str) else dict(via)
        if subject or text:
            rule["message"] = {**({"subject": subject} if subject else {}), **({"text": text} if text else {})}
        rules = self.heading.setdefault("notify", [])
        if isinstance(rules, list):
            rules.append(rule)
