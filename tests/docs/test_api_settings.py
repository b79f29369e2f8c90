"""The settings of the HTTP surface stand in the docs, with their defaults."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from layover.api.settings import ApiSettings

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"


def test_every_setting_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    documented: dict[str, str] = {}
    for names, defaults in rows:
        fields = re.findall(r"`([a-z_]+)`", names)
        shown = defaults.split(", ") if len(fields) > 1 else [defaults]
        documented |= dict(zip(fields, (one.replace(",", "").strip("` ") for one in shown), strict=True))
    settings = ApiSettings()

    assert documented == {
        field.name: str(getattr(settings, field.name)).replace(",", "") for field in msgspec.structs.fields(ApiSettings)
    }
