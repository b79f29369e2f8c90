"""How hard it is to guess a key that a person has thought of.

An estimate from above: what a program that guesses would try first (repetitions, sequences, few characters) counts as
little. It keeps out what is plainly weak, and nothing that a generator makes.
"""

from __future__ import annotations

import math
import string
from itertools import pairwise
from typing import Final

_LEAST_BITS: Final = 64
_FEWEST_CHARACTERS: Final = 8
_CLASSES: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_OTHER: Final = 32  # printable characters of no class


def is_guessable(key: str) -> bool:
    """Return whether a key has too few different characters, or too little in it that cannot be foreseen."""
    once = key[: (key + key).find(key, 1)]  # without what only repeats its beginning
    foreseen = sum(abs(ord(one) - ord(before)) <= 1 for before, one in pairwise(once))
    used = [len(class_) for class_ in _CLASSES if not set(class_).isdisjoint(once)]
    others = _OTHER if set(once) - set("".join(_CLASSES)) else 0
    bits = (len(once) - foreseen) * math.log2(max(2, sum(used) + others))
    return len(set(key)) < _FEWEST_CHARACTERS or bits < _LEAST_BITS
