"""A server, from another program: `AsyncClient`, or `Client` whose methods block. Both answer with the resources."""

from __future__ import annotations

from layover.client.async_client import AsyncClient
from layover.client.errors import ApiError, Unreachable
from layover.client.request_policy import RequestPolicy
from layover.client.sync_client import Client

__all__ = ["ApiError", "AsyncClient", "Client", "RequestPolicy", "Unreachable"]
