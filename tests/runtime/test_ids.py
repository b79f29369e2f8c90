"""Ids that are given out: UUIDs in the order of time, also within a millisecond."""

from __future__ import annotations

import uuid

from layover.runtime.ids import checked_id, new_id

NOW = 1_800_000_000_000
MOST = 0x1000  # that are numbered within a millisecond


def test_an_id_is_a_uuid_of_version_7_with_its_moment() -> None:
    given = new_id(NOW)
    assert checked_id(given) == given
    assert (uuid.UUID(given).version, uuid.UUID(given).variant) == (7, uuid.RFC_4122)
    assert int(given.replace("-", "")[:12], 16) == NOW


def test_those_of_one_millisecond_are_in_the_order_in_which_they_were_given_out() -> None:
    new_id(NOW - 1)
    given = [new_id(NOW) for _ in range(MOST)]
    assert given == sorted(given)
    assert len(set(given)) == MOST


def test_more_than_are_numbered_are_still_different_and_of_their_moment() -> None:
    new_id(NOW - 1)
    given = [new_id(NOW) for _ in range(MOST + 100)]
    assert len(set(given)) == MOST + 100
    assert max(given) < new_id(NOW + 1)


def test_a_later_moment_comes_after_all_of_an_earlier_one() -> None:
    earlier = [new_id(NOW) for _ in range(100)]
    assert max(earlier) < new_id(NOW + 1)
