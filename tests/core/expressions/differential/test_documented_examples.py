"""Examples from the documentation of CEL and of its strings extension, where Google's library is unusable or wrong.

Also our one deliberate difference: an integer beside a double becomes a double.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import oracle, subject
from .outcome import Success, agree, spell

# From the definitions of the strings extension, each as it is printed there.
STRINGS_EXTENSION: tuple[tuple[str, object], ...] = (
    ("'hello'.charAt(4)", "o"),
    ("'hello'.charAt(5)", ""),
    ("'hello mellow'.indexOf('')", 0),
    ("'hello mellow'.indexOf('ello')", 1),
    ("'hello mellow'.indexOf('jello')", -1),
    ("'hello mellow'.indexOf('', 2)", 2),
    ("'hello mellow'.indexOf('ello', 2)", 7),
    ("['hello', 'mellow'].join()", "hellomellow"),
    ("['hello', 'mellow'].join(' ')", "hello mellow"),
    ("[].join()", ""),
    ("[].join('/')", ""),
    ("'hello mellow'.lastIndexOf('')", 12),
    ("'hello mellow'.lastIndexOf('ello')", 7),
    ("'hello mellow'.lastIndexOf('jello')", -1),
    ("'hello mellow'.lastIndexOf('ello', 6)", 1),
    ("'TacoCat'.lowerAscii()", "tacocat"),
    ("'TacoCÆt Xii'.lowerAscii()", "tacocÆt xii"),
    ("'hello hello'.replace('he', 'we')", "wello wello"),
    ("'hello hello'.replace('he', 'we', -1)", "wello wello"),
    ("'hello hello'.replace('he', 'we', 1)", "wello hello"),
    ("'hello hello'.replace('he', 'we', 0)", "hello hello"),
    ("'hello hello'.replace('', '_')", "_h_e_l_l_o_ _h_e_l_l_o_"),
    ("'hello hello'.replace('h', '')", "ello ello"),
    ("'hello hello hello'.split(' ')", ["hello", "hello", "hello"]),
    ("'hello hello hello'.split(' ', 0)", []),
    ("'hello hello hello'.split(' ', 1)", ["hello hello hello"]),
    ("'hello hello hello'.split(' ', 2)", ["hello", "hello hello"]),
    ("'hello hello hello'.split(' ', -1)", ["hello", "hello", "hello"]),
    ("'tacocat'.substring(4)", "cat"),
    ("'tacocat'.substring(0, 4)", "taco"),
    ("'  \\ttrim\\n    '.trim()", "trim"),
    ("'TacoCat'.upperAscii()", "TACOCAT"),
    ("'TacoCÆt Xii'.upperAscii()", "TACOCÆT XII"),
    ("'gums'.reverse()", "smug"),
    ("'John Smith'.reverse()", "htimS nhoJ"),
    ("'this is a string: %s\\nand an integer: %d'.format(['str', 42])", "this is a string: str\nand an integer: 42"),
)

# Where the end of the text is the end: Google's library refuses it, the documentation has `[start, end)`.
TO_THE_END = (
    ("'tacocat'.substring(4, 7)", "cat"),
    ("'tacocat'.substring(0, 7)", "tacocat"),
    ("'😀é'.substring(1, 2)", "é"),
    ("'a'.substring(1, 1)", ""),
    ("''.substring(0, 0)", ""),
)


@pytest.mark.parametrize(("source", "value"), [*STRINGS_EXTENSION, *TO_THE_END])
def test_an_example_of_the_documentation_holds(source: str, value: object) -> None:
    assert subject.evaluate(source, {}) == Success(spell(value))


@pytest.mark.parametrize(("source", "value"), STRINGS_EXTENSION)
def test_google_holds_to_the_documentation_too(source: str, value: object) -> None:
    assert oracle.evaluate(source, {}) == Success(spell(value))


_whole = st.integers(-(2**53), 2**53)
_fraction = st.floats(allow_nan=False, allow_infinity=False, width=32)


@settings(max_examples=100, derandomize=True, database=None)
@given(_whole, _fraction, st.sampled_from(("+", "-", "*", "/")), st.booleans())
def test_an_integer_beside_a_double_becomes_a_double(whole: int, fraction: float, sign: str, swapped: bool) -> None:
    left, right = ("input.whole", "input.fraction")[:: -1 if swapped else 1]
    context = {"input": {"whole": whole, "fraction": fraction}}
    mixed = subject.evaluate(f"{left} {sign} {right}", context)
    assert agree(mixed, oracle.evaluate(f"double({left}) {sign} double({right})", context))
