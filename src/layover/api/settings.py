"""What can be set about the HTTP surface. Times are in seconds."""

from __future__ import annotations

import msgspec


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How much is taken from callers, and how long they are waited for."""

    rate_limit: tuple[int, float] | None = (100, 60.0)  # requests of one caller in so many seconds
    guess_limit: tuple[int, float] | None = (20, 60.0)  # wrong credentials of one address in so many seconds
    body_limit: int = 2_000_000  # bytes
    depth_limit: int = 100  # levels of objects and arrays in a body
    nesting_limit: int = 100_000  # objects and arrays in a body
    body_timeout: float = 30.0  # until a body has come
    head_timeout: float = 10.0  # until the head of a request has come
    idle_timeout: float = 30.0  # a connection that nothing comes on is closed
    connections: int | None = None  # open at once; without it, by how many files may be open
    connections_by_address: int | None = None  # without it, half of them
    connections_reserved: int = 16  # beyond that, for operators and health
    trusted_proxies: tuple[str, ...] = ()  # addresses and networks whose `X-Forwarded-For` is taken
    hosts: tuple[str, ...] | None = None  # names that requests may be sent to; without it, any
    longest_wait: float = 60.0  # for a start that waits
    act_wait: float = 10.0  # until an execution has taken what an operator asks of it
    streams: int = 1_000  # open at once
    streams_by_caller: int = 600
    heartbeat: float = 15.0  # between two signs of life of a stream, and two checks of its caller
    stalled_after: float = 30.0  # a client that takes nothing for so long is let go
    least_read: int = 64_000  # bytes of a long answer that a client takes in that time
    reply_kept: float = 86_400.0  # what was answered to a request with an idempotency key
    reply_worked_at: float = 120.0  # after so long a request that was not answered has died
    page: int = 50
    longest_page: int = 100
    page_bytes: int = 4_000_000  # of a page of what holds data: it has fewer items then, but at least one
