"""`layover settings`: the value of every setting, and where it came from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from layover.cli.exits import DONE
from layover.cli.options import Json  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.screen import print_json, say, say_pieces
from layover.cli.setting_flags import NO_FLAGS, AllFlags
from layover.config.table import GROUPS, table

if TYPE_CHECKING:
    from layover.config.configuration import ShownSetting

_STYLES = {"default": "dim", "file": "cyan", "environment": "green", "flag": "yellow"}


def show_settings(*, flags: AllFlags = NO_FLAGS, json: Json = False) -> int:
    """Print every setting with its value and where that came from: the default, the file, the environment, a flag.

    A later one wins: defaults, then `layover.toml` in the working folder (or `--config FILE`, `LAYOVER_CONFIG`), then
    the environment, then flags. One setting has one name: `lease_ttl` in the file is `LAYOVER_LEASE_TTL` in the
    environment and `--lease-ttl` as a flag. Secrets are not shown.
    """
    found = flags.configuration
    shown = found.describe()
    if json:
        print_json({"file": str(found.file) if found.file is not None else None, "settings": shown})
        return DONE
    widest = max(len(one.name) for one in shown)
    for group, members in groupby(shown, lambda one: table()[one.name].group):
        say(GROUPS[group], "bold")
        for one in members:
            _say_setting(one, widest)
    return DONE


def _say_setting(one: ShownSetting, widest: int) -> None:
    came_from = "default" if one.origin == "default" else one.where
    say_pieces([(f"  {one.name:{widest}}  {one.value or '-':24}", ""), (f"  {came_from}", _STYLES[one.origin])])
