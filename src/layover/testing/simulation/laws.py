"""The laws by their names, and what it is to break one."""

from __future__ import annotations

from typing import NamedTuple

LAWS = {
    "TOLD_IS_DURABLE": "Nothing that is told is ahead of the log, and it stays true.",
    "ANSWER_ONCE": "An accepted answer is in the log once, with its data, unless the execution ended first.",
    "UNDO_HOLDS": "An answer is applied when its window has ended, and not if it was taken back before.",
    "CLAIM_HOLDS": "No other person answers a point while a claim stands.",
    "SAID_ONCE": "A claim, a question or a reply that was accepted is in the log, once.",
    "SIGNAL_ONCE": "A point takes a signal once; one that was told to an execution is not passed over by a deadline.",
    "CALLBACK_ONCE": "One reply to a callback is accepted, and it is in the log once unless the execution ended first.",
    "KEY_ONCE": "A key begins one execution, and who is told of it has given the same input.",
    "PAUSE_HOLDS": "No call begins between a pause that was told, or could be, and a resume.",
    "RESUMED_GOES_ON": "Who resumes a workflow lets go of all that its pause has held.",
    "DONE_ONCE": "No call begins for what the log has completed.",
    "EFFECT_ONCE": "What a function does outside happens once in an execution, or again under its idempotency key.",
    "RECORDED_ONCE": "What is recorded under a key is not done again.",
    "CALL_HAS_LEASE": "Who begins a call, or does something once in it, owns the execution.",
    "ONE_AT_A_TIME": "A call is never out on two instances that are both in touch.",
    "NOT_FROM_ITSELF": "No instance takes over an execution that it drives itself.",
    "OWNED_IS_DRIVEN": "What a live instance owns it drives.",
    "POISON_CONTAINED": "A call that kills its instance is not made for ever.",
    "INNOCENT_GOES_ON": "No execution fails for what another one did to its instance.",
    "LIMIT_HOLDS": "No more run at once, or begin in a length of time, than their limits allow.",
    "CHILD_ONCE": "A child is begun once, and its parent is told once what it came to.",
    "VERSION_KEPT": "An execution runs the version that it began with.",
    "LIVENESS": "Some time after the last fault everything is closed, or held by a person.",
    "NO_LIVELOCK": "No run makes steps for ever without progress.",
    "ENDS_OR_SAYS_WHY": "What stands still can say why.",
    "PROMPT": "What is due is taken up soon.",
    "VERIFY": "The history checker finds nothing.",
    "INPUT_IS_LOGGED": "A call is given what the log says.",
    "NO_INTERNAL_ERROR": "No service ends, and no error is logged that was not caused from outside.",
}


class Broken(NamedTuple):
    """A law that does not hold: which, when, at which step, and what was seen."""

    law: str
    at: float
    step: int
    seen: str
