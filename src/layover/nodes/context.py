"""What a function may know about the call that is being made, if it asks for it."""

from __future__ import annotations

import msgspec


class NodeContext(msgspec.Struct, frozen=True, kw_only=True):
    """The call: which execution, which node, which attempt."""

    execution_id: str
    context_id: str
    attempt: int

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this call: a system that is called twice with it can tell."""
        return f"{self.execution_id}/{self.context_id}"
