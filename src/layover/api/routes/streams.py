"""What happens to an execution, as it happens."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Streams", "What happens to an execution, as it happens.", prefix="/api/v1")
