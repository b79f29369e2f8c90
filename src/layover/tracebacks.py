"""Where an error was raised: what is stored beside it in the log, and shown to those who may debug.

It holds places and no values: file, line and name of each frame, but neither source nor local variables. Messages are
redacted before they come here. Frames of Layover itself are left out unless there are no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a later attempt keeps, when many before it have failed: a retry can go on forever, and each one is in the log.
_FRAMES_LEFT: Final = 3
_FRAMES_OF_CAUSES_LEFT: Final = 1
_CAUSES_LEFT: Final = 3

_BETWEEN: Final = {
    "cause": "The above exception was the direct cause of the following exception:",
    "context": "During handling of the above exception, another exception occurred:",
    "member": "The above exception is a member of a group below:",
}


class TracebackFrame(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One frame: the file relative to the program, the line, and the qualified name of the function."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f'  File "{self.file}", line {self.line}, in {self.name}'


class TracebackCause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An exception behind another: its cause, what was handled when it was raised, or a member of a group."""

    type: str
    message: str
    module: str = ""
    how: Literal["cause", "context", "member"] = "cause"
    frames: tuple[TracebackFrame, ...] = ()
    frames_left_out: int = 0
    notes: tuple[str, ...] = ()


class Traceback(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Where an attempt failed: the frames from the outermost to where it was raised, and what is behind it.

    `causes` are its causes and the members of groups, each before what is behind it. `notes` were added to the
    exception. Of many frames the first and the last are kept; `frames_left_out` were between them. An `http` node has
    no frames: `request` is its request line, and `answer` the head of the response. What failed in a child has its
    `execution_id` and `context_id`.
    """

    module: str = ""
    frames: tuple[TracebackFrame, ...] = ()
    frames_left_out: int = 0
    notes: tuple[str, ...] = ()
    causes: tuple[TracebackCause, ...] = ()
    request: str = ""
    answer: str = ""
    execution_id: str = ""
    context_id: str = ""


def shorten(traceback: Traceback) -> Traceback:
    """Return the innermost places of a traceback."""
    causes = tuple(
        msgspec.structs.replace(
            cause,
            frames=cause.frames[-_FRAMES_OF_CAUSES_LEFT:],
            frames_left_out=_left_out(cause, _FRAMES_OF_CAUSES_LEFT),
            notes=(),
        )
        for cause in traceback.causes[:_CAUSES_LEFT]
    )
    return msgspec.structs.replace(
        traceback,
        frames=traceback.frames[-_FRAMES_LEFT:],
        frames_left_out=_left_out(traceback, _FRAMES_LEFT),
        notes=traceback.notes[:1],
        causes=causes,
    )


def error_summary(type_: str, message: str) -> str:
    """Return an error in a line: its type and its message, or whichever there is."""
    return f"{type_}: {message}" if type_ and message else type_ or message


def traceback_lines(type_: str, message: str, traceback: Traceback) -> list[str]:
    """Return an error as Python prints one: the first cause first, and the error itself last.

    A message is one of the lines, also if it has several itself.
    """
    lines: list[str] = []
    for cause in reversed(traceback.causes):
        lines += [*_block(cause, cause.type, cause.message), "", _BETWEEN[cause.how], ""]
    return [*lines, *_block(traceback, type_, message), *_exchange(traceback)]


def _block(one: Traceback | TracebackCause, type_: str, message: str) -> Iterator[str]:
    if one.frames:
        yield "Traceback (most recent call last):"
        middle = (len(one.frames) + 1) // 2
        yield from map(str, one.frames[:middle])
        if one.frames_left_out:
            yield f"  … {one.frames_left_out} frames left out"
        yield from map(str, one.frames[middle:])
    name = f"{one.module}.{type_}" if one.module not in ("", "builtins") else type_
    yield f"{name}: {message}" if message else name
    yield from one.notes


def _exchange(traceback: Traceback) -> Iterator[str]:
    if traceback.request:
        yield f"Request: {traceback.request}"
    if traceback.answer:
        yield f"Answer: {traceback.answer}"


def _left_out(one: Traceback | TracebackCause, kept: int) -> int:
    return one.frames_left_out + max(0, len(one.frames) - kept)
