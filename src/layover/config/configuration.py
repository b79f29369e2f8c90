"""All settings, resolved: defaults, then the file, then the environment, then flags."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from layover.api.access.config import AccessSettings, InvalidSetting, JwtSettings, OidcSettings, parse_role_map
from layover.api.settings import ApiSettings
from layover.config.command_settings import CommandSettings
from layover.config.kinds import Misread
from layover.config.sources import Given, Origin, SettingFault, find_file, from_environment, from_file, from_flags
from layover.config.table import table
from layover.interface.durations import seconds_of
from layover.redaction import without_password
from layover.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=msgspec.Struct)


class ShownSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting as it is shown: secrets and passwords are masked."""

    name: str
    value: str
    origin: Origin
    where: str
    default: str
    about: str


class Configuration:
    """The value of every setting, and where it came from."""

    def __init__(self, given: Mapping[str, Given], values: Mapping[str, object], file: Path | None) -> None:
        self._given = given
        self._values = values
        self.file = file  # with settings, if there is one

    def origin(self, name: str) -> Origin:
        """Return where the value of a setting came from."""
        return self._given[name].origin if name in self._given else "default"

    def label(self, name: str) -> str:
        """Return how the value of a setting was named where it came from: `--poll`, `LAYOVER_POLL`."""
        return self._given[name].where if name in self._given else name

    @property
    def engine(self) -> Settings:
        """The settings of an engine."""
        return self._struct(Settings)

    @property
    def api(self) -> ApiSettings:
        """The settings of the HTTP API."""
        act_wait = seconds_of("act_wait", self.engine.act_wait)
        return msgspec.structs.replace(self._struct(ApiSettings), act_wait=act_wait)

    @property
    def command(self) -> CommandSettings:
        """The settings of the commands."""
        return self._struct(CommandSettings)

    @property
    def access(self) -> AccessSettings:
        """Who gets in."""
        command = self.command
        jwt = {name: getattr(command, f"jwt_{name}") for name in JwtSettings.__struct_fields__}
        return AccessSettings(
            admin_key=command.admin_key,
            jwt=JwtSettings(**jwt) if any(jwt.values()) else None,
            oidc=self._oidc(command),
        )

    def describe(self) -> tuple[ShownSetting, ...]:
        """Return all settings as they may be shown."""
        return tuple(
            ShownSetting(
                name=name,
                value=row.show(self._values[name]),
                origin=self.origin(name),
                where="" if name not in self._given else self._given[name].where,
                default=row.show(row.default),
                about=row.about,
            )
            for name, row in table().items()
        )

    def _oidc(self, command: CommandSettings) -> OidcSettings | None:
        given = next((name for name in self._given if name.startswith("oidc_")), None)
        if given is None:
            return None
        if command.oidc_issuer is None:
            message = "It says nothing without `oidc_issuer`, the address of the provider that signs people in."
            raise InvalidSetting(f"{given}: {message}", ((given, message),))
        return OidcSettings(
            issuer=command.oidc_issuer,
            client_id=command.oidc_client_id or "",
            client_secret=command.oidc_client_secret,
            roles_claim=command.oidc_roles_claim,
            roles=parse_role_map(command.oidc_role_map),
            user_claim=command.oidc_user_claim,
            scopes=command.oidc_scopes,
        )

    def _struct(self, struct: type[T]) -> T:
        return struct(**{field: self._values[field] for field in struct.__struct_fields__})


def configure(
    flags: Mapping[str, object] | None = None,
    *,
    config: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """Return all settings; InvalidSetting says everything that is wrong with them, and where it was given."""
    environment = os.environ if environment is None else environment
    faults: list[SettingFault] = []
    path, named_by = find_file(config, environment, folder or Path())
    sources = [
        *(from_file(path, named_by, faults) if path is not None else ()),
        *from_environment(environment, faults),
        *from_flags(flags or {}),
    ]
    given: dict[str, Given] = {}
    values = {name: row.default for name, row in table().items()}
    for one in sources:
        try:
            values[one.row.name] = one.row.kind.read(one.value)
            given[one.row.name] = one
        except Misread as error:
            faults.append(SettingFault(one.where, str(error)))
        except ValueError:
            faults.append(_refused(one))
    found = Configuration(given, values, path)
    faults += _about_access(found)
    if faults:
        raise _error(faults)
    return found


def _refused(given: Given) -> SettingFault:
    # Masked before it is cut: of an address that is cut, nothing would tell the password.
    shown = "" if given.row.is_secret else f"`{without_password(str(given.value)):.60}` is not allowed. "
    return SettingFault(given.where, f"{shown}It takes {given.row.kind.allowed}.")


def _about_access(configuration: Configuration) -> list[SettingFault]:
    """Return what is wrong with keys and tokens, which is checked wherever they are given."""
    try:
        _ = configuration.access
    except InvalidSetting as error:
        return [SettingFault(configuration.label(path), what) for path, what in error.errors]
    return []


def _error(faults: list[SettingFault]) -> InvalidSetting:
    places = tuple((fault.where, fault.text) for fault in faults)
    if len(faults) == 1:
        return InvalidSetting(f"{faults[0].where}: {faults[0].text}", places)
    return InvalidSetting("These settings are wrong:", places)
