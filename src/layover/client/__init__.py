"""A server, from another program: `AsyncClient`, or `Client` whose methods block. Both answer with the resources."""

from __future__ import annotations

from layover.client.asynchronous import AsyncClient
from layover.client.errors import ApiError, Unreachable
from layover.client.patience import Patience
from layover.client.synchronous import Client

__all__ = ["ApiError", "AsyncClient", "Client", "Patience", "Unreachable"]
