"""What users have set for themselves: each of their browsers has it."""

from __future__ import annotations

from typing import Literal

from layover.core.moments import Moment
from layover.model.shared import Body, Resource

Theme = Literal["auto", "light", "dark"]
Zone = Literal["local", "utc"]
Screen = Literal["inbox", "executions", "workflows", "operations"]


class UserSettingsBody(Body, frozen=True, kw_only=True):
    """Settings of a user; one that is not given is as by default."""

    theme: Theme = "auto"  # `auto`: as the browser has it
    zone: Zone = "local"  # in which times are shown
    single_keys: bool = True  # whether keys such as `j` and `a` act without Ctrl
    landing: Screen | None = None  # where the console opens; None: by what the user may do


class UserSettings(Resource, frozen=True, kw_only=True):
    """What a user has set for themselves."""

    theme: Theme = "auto"
    zone: Zone = "local"
    single_keys: bool = True
    landing: Screen | None = None
    changed_at: Moment | None = None  # None: nothing was ever set
