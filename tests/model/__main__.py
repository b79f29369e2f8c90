"""Show what happens without a rule: `python -m tests.model APPEND_NAMES_THE_OWNER`; without a name, for all of them."""

from __future__ import annotations

import sys

from .scenarios import CASES
from .search import explore


def main(names: list[str]) -> None:
    for case in CASES:
        if not names or case.rule.name in names:
            found = explore(case.model(case.rule)).violation
            sys.stdout.write(f"without {case.rule.name} ({case.rule.value})\n{found}\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
