"""Settings as programs give them, and as a runtime has them."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from layover import Engine, InvalidInput, Settings
from layover.runtime.settings import RuntimeSettings
from layover.settings import LENGTHS, runtime_settings


def test_both_have_the_same_fields_and_defaults() -> None:
    assert Settings.__struct_fields__ == RuntimeSettings.__struct_fields__
    assert runtime_settings(Settings()) == runtime_settings(None) == RuntimeSettings()


def test_a_length_of_time_is_a_text_or_a_timedelta() -> None:
    given = Settings(lease_ttl="1m", poll=timedelta(seconds=2), retention="30d", calls=5)
    found = runtime_settings(given)
    assert (found.lease_ttl, found.poll, found.retention, found.calls) == (60_000, 2_000, 30 * 86_400_000, 5)


@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_a_bare_number_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"`{name}`") as refused:
        Engine(settings=msgspec.structs.replace(Settings(), **{name: 30}))
    assert refused.value.code == "invalid_parameter"
