"""What only the commands can be told: where executions are, how to serve, who gets in, and what is logged."""

from __future__ import annotations

from typing import Literal

import msgspec

from layover.bootstrap import DEFAULT

LogFormat = Literal["text", "json"]


class CommandSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings beside those of the engine (`layover.Settings`) and of the API (`layover.asgi.ApiSettings`)."""

    db: str = DEFAULT  # The database: an address such as sqlite:///app.db or postgresql://user@host/name, or a path
    url: str | None = None  # A server, in place of a database: its address
    key: str | None = None  # The key of a server, or @file with it
    host: str = "127.0.0.1"  # The address to listen at
    port: int = 8080  # The port to listen at; 0 takes one that is free
    processes: int = 1  # How many processes share the work
    worker: bool = True  # Whether the server drives executions, too; off, it only answers requests
    health: str | None = None  # The port, or HOST:PORT, at which a worker answers /healthz, /readyz and /metrics
    admin_key: str | None = None  # The key of the user `admin`; without it the first start makes one
    jwt_secret: str | None = None  # Accept tokens signed with a shared secret (HS256)
    jwt_jwks_url: str | None = None  # Accept tokens signed with keys at an address (RS256, ES256)
    jwt_issuer: str | None = None  # Whose tokens they have to be
    jwt_audience: str | None = None  # For whom the tokens have to be
    oidc_issuer: str | None = None  # The provider that signs people in (OpenID Connect): its address
    oidc_client_id: str | None = None  # What the provider calls this server
    oidc_client_secret: str | None = None  # What the server shows the provider; else the secret OIDC_CLIENT_SECRET
    oidc_roles_claim: str = "roles"  # The claim that roles come from, or the way to it: realm_access.roles
    oidc_role_map: str | None = None  # Roles by value of that claim, as JSON: {"staff": ["viewer"]}; "*" for everybody
    oidc_user_claim: str = "sub"  # The claim with the name of the user
    oidc_scopes: str = "openid profile email"  # What the provider is asked for
    log: str = "info"  # The least level of what is logged, also of single loggers: info,layover.claimer=debug
    log_format: LogFormat = "text"  # Log lines for people, or one JSON object each
