"""The cost of a call, in numbers that are the same on every machine: peak memory, and instructions."""

from __future__ import annotations

import sys
import tracemalloc
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

T = TypeVar("T")


def peak_of(function: Callable[[], T]) -> tuple[T, int]:
    """Return the result of a function, and its peak of additional bytes."""
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def instructions_of(function: Callable[[], object]) -> int:
    """Count the bytecode instructions that a function executes, those of everything that it calls included."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Callable[[FrameType, str, Any], Any]:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count
