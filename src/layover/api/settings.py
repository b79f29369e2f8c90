"""What can be set about the HTTP surface. Times are in seconds."""

from __future__ import annotations

from typing import Literal

import msgspec


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How much is taken from callers, and how long they are waited for."""

    rate_limit: tuple[int, float] | None = (100, 60.0)  # Requests of one caller
    session_limit: tuple[int, float] | None = (600, 60.0)  # Requests of one session of a browser; streams do not count
    webhook_limit: tuple[int, float] | None = (600, 60.0)  # Deliveries to one webhook, and refused ones by address
    guess_limit: tuple[int, float] | None = (20, 60.0)  # Different credentials that are not valid, from one address
    body_limit: int = 2_000_000  # Bytes of a request body
    depth_limit: int = 100  # Levels of objects and arrays in a body
    nesting_limit: int = 100_000  # Objects and arrays in a body
    body_timeout: float = 30.0  # How long the body of a request may take
    head_timeout: float = 10.0  # How long the head of a request may take
    idle_timeout: float = 30.0  # How long an idle connection stays open
    connections: int | None = None  # Connections open at once; by default, three quarters of the open-files limit
    connections_by_address: int | None = None  # Connections from one address; by default, half of them
    connections_reserved: int = 16  # Connections beyond that, for operators and health
    trusted_proxies: tuple[str, ...] = ()  # Addresses and networks of proxies whose `X-Forwarded-For` is taken
    hosts: tuple[str, ...] | None = None  # Names that requests may be sent to, besides addresses and `localhost`
    link_identity: Literal["link", "link+login"] = "link+login"  # What the holder of a link needs, to decide with it
    longest_wait: float = 60.0  # How long a start may wait
    act_wait: float = 10.0  # How long an operation waits until its execution has applied it
    streams: int = 1_000  # Streams open at once
    streams_by_caller: int = 600  # Streams of one caller
    heartbeat: float = 15.0  # How long between two heartbeats of a stream, at which its caller is checked
    stalled_after: float = 30.0  # How long a client may read nothing before it is disconnected
    least_read: int = 64_000  # Bytes of a long answer that a client has to read in that time
    reply_kept: float = 86_400.0  # How long the answer to a request with an idempotency key is kept
    reply_worked_at: float = 120.0  # How long such a request may go unanswered before it counts as lost
    page: int = 50  # Items of a page by default
    longest_page: int = 100  # Items of a page at most
    page_bytes: int = 4_000_000  # Bytes of a page that holds data; a larger one is cut, but has at least one item
