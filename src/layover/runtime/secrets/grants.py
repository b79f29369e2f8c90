"""Which workflow may have which secret: the setting `allow_secrets`.

Without it, anyone who may write definitions could have any secret sent anywhere. So the default grants nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.runtime.audit.signing import AUDIT_KEY
from layover.runtime.secrets.errors import SecretNotAllowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class SecretGrants:
    """Patterns of workflow names, each with patterns of the names of secrets; `*` stands for any characters."""

    def __init__(self, allowed: Mapping[str, Sequence[str]]) -> None:
        self._rules = tuple(
            (_pattern(workflows), tuple(_pattern(name) for name in names)) for workflows, names in allowed.items()
        )

    def grants(self, workflow: str, name: str) -> bool:
        """Return whether a workflow may have a secret; none may have the key that signs what was audited."""
        return name != AUDIT_KEY and any(
            workflows.fullmatch(workflow) and any(one.fullmatch(name) for one in names)
            for workflows, names in self._rules
        )

    def require(self, workflow: str, names: Iterable[str]) -> None:
        """Raise an error if a workflow may not have all of some secrets."""
        refused = [name for name in names if not self.grants(workflow, name)]
        if refused:
            raise SecretNotAllowed(workflow, refused)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))))
