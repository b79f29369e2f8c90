"""Family files: every statement has one name, one place, and the same name in both dialects."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from layover.stores.statements import read_family, read_statements, split_family

SQLITE, POSTGRES = "layover.stores.sqlite", "layover.stores.postgres"
DIALECTS = (SQLITE, POSTGRES)


def families(package: str) -> dict[str, set[str]]:
    names = [file.name for file in (files(package) / "sql").iterdir() if file.name.endswith(".sql")]
    return {name: set(read_family(package, name)) for name in names}


def family_of(package: str) -> dict[str, str]:
    return {name: family for family, names in families(package).items() for name in names}


def test_a_section_is_a_header_its_comments_and_a_statement() -> None:
    text = """-- What the family is about.

-- name: first
-- Why it is
-- as it is.
SELECT 1 -- stays
FROM t

-- name: second
SELECT 2
"""
    assert split_family(text, "t.sql") == {"first": "SELECT 1 -- stays\nFROM t", "second": "SELECT 2"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-- name: one\nSELECT 1\n\n-- name: one\nSELECT 2", "another statement `one`"),
        ("-- nmae: one\nSELECT 1", "not a header"),
        ("-- name: one\nSELECT 1\n-- part: two\nSELECT 2", "not a header"),
        ("-- name: One\nSELECT 1", "`One` is not the name"),
        ("-- name: one two\nSELECT 1", "`one two` is not the name"),
        ("-- name: \nSELECT 1", "`` is not the name"),
        ("-- name: one\n-- only said\n\n-- name: two\nSELECT 2", "`one` has no statement"),
        ("SELECT 1\n-- name: two\nSELECT 2", "`SELECT 1` has no name"),
    ],
)
def test_a_file_that_does_not_keep_to_the_form_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        split_family(text, "t.sql")


def test_a_statement_of_both_dialects_is_in_the_same_family() -> None:
    sqlite, postgres = family_of(SQLITE), family_of(POSTGRES)
    both = sqlite.keys() & postgres.keys()
    assert {name: sqlite[name] for name in both} == {name: postgres[name] for name in both}


@pytest.mark.parametrize("package", DIALECTS)
def test_every_statement_is_used(package: str) -> None:
    code = "".join(file.read_text() for file in files(package).iterdir() if file.name.endswith(".py"))
    code += files("layover.stores").joinpath("execution_search.py").read_text()  # chooses statements for both
    assert [name for name in read_statements(package) if f'"{name}"' not in code] == []


@pytest.mark.parametrize("package", DIALECTS)
def test_the_statements_of_a_family_are_those_of_its_file(package: str) -> None:
    assert set().union(*families(package).values()) == set(read_statements(package))
