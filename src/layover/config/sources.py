"""Where settings come from besides defaults: a file, the environment, flags. A later one wins over an earlier one."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from layover.config.table import PREFIX, table
from layover.core.suggest import Suggestions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from layover.config.table import Row

FILE: Final = "layover.toml"
CONFIG: Final = f"{PREFIX}CONFIG"
_LARGEST: Final = 1_000_000  # bytes of a file
_OTHERS: Final = re.compile(
    r"LAYOVER_(CONFIG|DEBUG|LISTEN_FD|SUPERVISOR_FD|METRICS_SLOT|TEST_\w+|TORTURE|SIMULATION_\w+|SEED"
    r"|SECRET_[A-Z][A-Z0-9_]{0,63})"
)
# Docker and Kubernetes tell containers of services by variables: LAYOVER_PORT=tcp://10.0.0.3:8080 and the like.
_OF_A_SERVICE: Final = re.compile(r"LAYOVER_(\w+_)?(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP))(_\w+)?")
_LINK: Final = re.compile(r"(tcp|udp|sctp)://")

Origin = Literal["default", "file", "environment", "flag"]


class Given(NamedTuple):
    """A setting as it was given: `where` names the flag, the variable, or the file with the name in it."""

    row: Row
    value: object
    origin: Origin
    where: str


class SettingFault(NamedTuple):
    """Something that is wrong with a setting: where it was given, and what to do."""

    where: str
    text: str


def find_file(config: str | None, environment: Mapping[str, str], folder: Path) -> tuple[Path | None, str]:
    """Return the file with settings, if there is one, and what named it: a flag, a variable, or nothing."""
    if config:
        return folder / config, "--config"
    if named := environment.get(CONFIG):
        return folder / named, CONFIG
    usual = folder / FILE
    return (usual, "") if usual.is_file() else (None, "")


def from_file(path: Path, named_by: str, found: list[SettingFault]) -> Iterator[Given]:
    """Return what a file sets; what is wrong with it is added to the faults."""
    try:
        document = _document_in(path)
    except _Unreadable as error:
        found.append(SettingFault(f"{named_by}: {path}" if named_by else str(path), str(error)))
        return
    for name, value in document.items():
        row = table().get(name)
        if row is None:
            found.append(SettingFault(f"{path.name}: {name}", _unknown(name, value)))
        elif not row.is_in_file:
            how = f"Give it by {row.variable} or {row.flag}: such files decide neither where keys go nor what runs."
            found.append(SettingFault(f"{path.name}: {name}", how))
        else:
            yield Given(row, value, "file", f"{path.name}: {name}")


class _Unreadable(Exception):  # noqa: N818 - it says what the file is
    pass


def _document_in(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise _Unreadable(f"It cannot be read: {error.strerror}.") from error
    if len(content) > _LARGEST:
        raise _Unreadable(f"It is larger than {_LARGEST:,} bytes.")
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise _Unreadable("It is not UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"It is not valid TOML: {error}.") from error


def from_environment(environment: Mapping[str, str], found: list[SettingFault]) -> Iterator[Given]:
    """Return what variables set; an empty one sets nothing, and one that is no setting is a fault."""
    rows = {row.variable: row for row in table().values()}
    for name, value in environment.items():
        if not name.startswith(PREFIX) or not value or _OTHERS.fullmatch(name):
            continue
        if _OF_A_SERVICE.fullmatch(name) or _LINK.match(value):
            continue
        if (row := rows.get(name)) is not None:
            yield Given(row, value, "environment", name)
        else:
            guess = Suggestions().did_you_mean(name, [*rows, CONFIG])
            found.append(SettingFault(name, f"There is no such setting.{guess}"))


def from_flags(flags: Mapping[str, object]) -> Iterator[Given]:
    """Return what flags set; those that are not given have None."""
    for name, value in flags.items():
        if value is not None:
            row = table()[name]
            yield Given(row, value, "flag", row.flag)


def _unknown(name: str, value: object) -> str:
    if isinstance(value, dict):
        return "There is no such table: settings stand at the top of the file, before any `[table]`."
    return f"There is no such setting.{Suggestions().did_you_mean(name, table())}"
