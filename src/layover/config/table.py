"""The table of all settings: made from the structs that hold them, which have the names, defaults and descriptions.

The command line, what `layover settings` prints and the reference in the documentation are made from it. A setting has
one name: `lease_ttl` in the file is `LAYOVER_LEASE_TTL` in the environment and `--lease-ttl` as a flag.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import msgspec

from layover.api.settings import ApiSettings
from layover.config import kinds
from layover.config.command_settings import CommandSettings
from layover.config.field_comments import field_comments
from layover.settings import Settings

if TYPE_CHECKING:
    from layover.config.kinds import Kind

Group = Literal["target", "engine", "worker", "server", "api", "access", "log"]

GROUPS: Final[dict[Group, str]] = {
    "target": "Where executions are",
    "engine": "Engine",
    "worker": "Worker",
    "server": "Server",
    "api": "Limits of the HTTP API",
    "access": "Who gets in",
    "log": "Logs",
}
STRUCTS: Final = (CommandSettings, Settings, ApiSettings)
PREFIX: Final = "LAYOVER_"

_GROUP_OF: Final[dict[str, Group]] = {
    **dict.fromkeys(("db", "url", "key"), "target"),
    **dict.fromkeys(("host", "port", "processes", "worker", "public_url"), "server"),
    **dict.fromkeys(
        ("admin_key", "jwt_secret", "jwt_jwks_url", "jwt_issuer", "jwt_audience", "link_key", "link_identity"), "access"
    ),
    **dict.fromkeys(("oidc_issuer", "oidc_client_id", "oidc_client_secret", "oidc_scopes"), "access"),
    **dict.fromkeys(("oidc_roles_claim", "oidc_role_map", "oidc_user_claim"), "access"),
    **dict.fromkeys(("log", "log_format"), "log"),
    "health": "worker",
}
_SECRET: Final = frozenset({"key", "admin_key", "jwt_secret", "link_key", "oidc_client_secret"})
# A folder may belong to another user: its file must not decide to which server a key of the environment is sent, nor
# which code is imported, nor which workflows get the secrets of the environment, nor who is told of what.
_NOT_IN_FILE: Final = frozenset(
    {"url", "key", "redact", "allow_secrets", "secrets_file", "secrets_dir", "notify", "destinations", "directory"}
)
_MAY_BE_ZERO: Final = frozenset(
    {"executions", "abandoned_threads", "max_takeovers", "connections_reserved", "cache_bytes", "ended_bytes"}
    | {"log_view_bytes", "drain", "grace", "store_grace", "act_wait", "give_back_after", "leg_flush"}
    | {"recovery_backoff", "suspect_alone", "retention", "signal_retention", "audit_retention"}
)
_LARGEST_BODY: Final = 1_000_000_000
_KINDS: Final[dict[str, Kind]] = {
    "lease_ttl": kinds.duration(zero=False, least="500ms"),
    "url": kinds.optional(kinds.web_address()),
    "port": kinds.number(0, 65_535)._replace(show=str),
    "processes": kinds.number(1, 64),
    "health": kinds.optional(kinds.address_and_port()),
    "public_url": kinds.web_address(),
    "body_limit": kinds.size(1, _LARGEST_BODY),
    "least_read": kinds.size(1),
    "trusted_proxies": kinds.proxies(),
    "log": kinds.log_levels(),
    "hosts": kinds.optional(kinds.hosts()),
    "redact": kinds.optional(kinds.function_name()),
    "allow_secrets": kinds.secret_grants(),
    "link_key": kinds.optional(kinds.link_keys()),
    "notify": kinds.notifications(),
    "destinations": kinds.destinations(),
    "directory": kinds.optional(kinds.text()),
    "connections": kinds.or_word(kinds.number(1), "auto"),
    "connections_by_address": kinds.or_word(kinds.number(1), "auto"),
    "max_iterations": kinds.or_word(kinds.number(1), "unlimited"),
}


class Row(NamedTuple):
    """One setting: its name, where it is described, and what it may be."""

    name: str
    group: Group
    kind: Kind
    default: object
    about: str
    structs: tuple[type[msgspec.Struct], ...]  # those that have a field of this name

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"{PREFIX}{self.name.upper()}"

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_secret(self) -> bool:
        """Whether its value is never shown."""
        return self.name in _SECRET

    @property
    def has_flag(self) -> bool:
        """Whether it is a flag: other users of a machine see the command lines of its processes."""
        return not self.is_secret or self.group == "target"

    @property
    def is_in_file(self) -> bool:
        """Whether the file may have it."""
        return self.name not in _NOT_IN_FILE

    def show(self, value: object) -> str:
        """Return a value as text; a secret is not shown."""
        return "***" if self.is_secret and value is not None else self.kind.show(value)


@cache
def table() -> dict[str, Row]:
    """Return all settings by name, in the order of their groups."""
    rows: dict[str, Row] = {}
    for struct in STRUCTS:
        comments = field_comments(struct)
        for field in msgspec.structs.fields(struct):
            if (before := rows.get(field.name)) is not None:
                rows[field.name] = before._replace(structs=(*before.structs, struct))
                continue
            group = _GROUP_OF.get(field.name, "engine" if struct is Settings else "api")
            kind = _KINDS.get(field.name) or _kind_of(field.name, field.type)
            about = comments.get(field.name, "")
            rows[field.name] = Row(field.name, group, kind, _default_of(field), about, (struct,))
    return {row.name: row for group in GROUPS for row in rows.values() if row.group == group}


def _default_of(field: msgspec.structs.FieldInfo) -> object:
    return field.default_factory() if field.default is msgspec.NODEFAULT else field.default


def _kind_of(name: str, type_: object) -> Kind:
    """Return what a field takes, by its type."""
    parts, zero = get_args(type_), name in _MAY_BE_ZERO
    if timedelta in parts:
        found = kinds.duration(zero=zero)
        return kinds.or_word(found, "forever") if type(None) in parts else found
    if type_ is int:
        return kinds.size(0 if zero else 1) if name.endswith("_bytes") else kinds.number(0 if zero else 1)
    if type_ is bool:
        return kinds.yes_or_no()
    if type_ is float:
        return kinds.seconds()
    if type_ == dict[str, int]:
        return kinds.limits_by_name()
    if type_ == tuple[int, float] | None:
        return kinds.or_word(kinds.rate(), "off")
    if type_ is str:
        return kinds.text()
    if type_ == str | None:
        return kinds.optional(kinds.text())
    return kinds.choice(*map(str, parts))
