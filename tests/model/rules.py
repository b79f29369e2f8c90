"""The rules of the protocol that a model can do without, and the promises that break when it does.

Each rule is a switch. `test_protocol.py` explores the models with all rules kept and finds nothing; `test_rules.py`
drops one rule at a time and says which promise is broken. A number in front is that of docs/explanation/protocol.md.
"""

from __future__ import annotations

from enum import Enum


class Rule(Enum):
    """What an implementation must do, a sentence each."""

    # One execution, several hands.
    APPEND_NAMES_THE_OWNER = "1: an append lands only if its writer is the owner."
    APPEND_NAMES_THE_EPOCH = "1: an append lands only under the claim that it was decided under."
    APPEND_NAMES_LAST_SEQ = "1: an append lands only right behind the event it was decided after."
    APPEND_NAMES_COMMANDS_SEQ = "1: an append lands only if its writer has read every accepted command."
    ONE_APPEND_PER_BATCH = "2: an execution appears once in a batch; the committer merges what it has to say."
    UNKNOWN_OUTCOME_IS_READ = "5: whether a commit without a reply has landed is read from the head, never guessed."
    CLOSING_CLEARS_WAKE = "6: a closing append leaves nothing due."
    CLOSING_SETTLES_COMMANDS = "6: a closing append settles the commands that it does not apply as too late."
    CLOSED_REFUSES_COMMANDS = "6: the statement that would enqueue a command refuses it for a closed execution."
    ENQUEUE_WAKES = "7: whoever enqueues a command makes an execution due that nobody owns."
    NOTHING_WAITS_IN_THE_QUEUE = "8: the owner moves all unread commands into the log; what waits, waits as state."
    UNREADABLE_STOPS_THE_QUEUE = "8: a command that a release cannot read stays, and holds all that is behind it."
    HELD_BACK_IS_NOT_DUE = "8: what an instance cannot read is due for whoever can, and not for that instance."
    ANSWER_IS_A_RESERVATION = "10: looking at the point and answering it are one transaction that holds the head."
    CLAIM_RAISES_EPOCH = "11: every claim gets an epoch of its own."
    TAKEOVERS_ARE_LIMITED = "11: what is taken over again and again without progress is paused as an incident."
    ONLY_PROGRESS_RESETS_TAKEOVERS = (
        "11: an append that only takes a call up again leaves the count of takeovers alone."
    )
    RENEWAL_NAMES_WHAT_IS_DRIVEN = "12: an instance renews the claims it really drives, not all that bear its name."
    OWN_LEASES_COME_FIRST = "12: an instance renews what it drives before it claims: it never takes over from itself."
    CALL_CHECKS_THE_LEASE = "13: before each call an instance looks at its own lease's deadline."
    TIME_IS_THE_DATABASE_S = "14: what is due is judged by the database's clock, not by the instance's own."
    A_HELD_LOCK_KEEPS_THE_LEASE = "15: a clock set forward ends no lease of an instance that holds its lock and renews."
    REST_NAMES_THE_NEXT_WAKE = "16: at rest, the wake time is the earliest thing that time will have to do."
    NOTHING_IS_DUE_WHILE_PAUSED = "16: behind a closed gate, deadlines do not come due."
    GATE_CLOSES_WITH_THE_COMMAND = "17: the commit that moves the pause into the log starts nothing any more."
    PAUSED_MEANS_DRAINED = "17: paused is said when nothing runs any more, or with the name of what is in doubt."

    # Parents and children.
    PARENT_WAITS_FOR_CHILDREN = "17: a parent stays pausing until its child has reported."
    REPORT_NAMES_ITS_PAUSE = "17: a child's report names the pause it answers, so that an old one settles nothing."
    ANY_INSTANCE_EMPTIES_THE_OUTBOX = "18: a row of the outbox is work for whoever comes by, until it is deleted."
    OUTBOX_IS_FIFO = "18: rows for one destination are delivered in their order."
    DELIVERY_IS_UNIQUE = "7, 18: a second delivery of a row is a no-op, known by its source and number."
    CHILD_ID_IS_DERIVED = "18: a child's id follows from its parent and point: started twice, it is one child."

    # Signals and waits.
    LOOK_AFTER_COMMIT = "19: signal and wait are written and committed first; only then each looks for the other."
    LOOK_UNTIL_RECORDED = "19: who has not recorded having looked will be made to look again."
    MATCH_IS_UNIQUE = "19: a signal meets a point once, whichever side finds the other."

    # Triggers.
    INPUTS_COMMIT_WITH_CURSOR = "25: the inputs of a trigger, its cursor and its next moment are one transaction."
    CLAIM_COMPARES = "25: a claim lands only if the trigger is as its writer has read it."
    START_MARKS_THE_INPUT = "25: creating the execution turns its input from pending to started, or nothing happens."
    INPUT_IS_KEYED = "25: a known id is a duplicate: the same answer, and nothing is written."
    PENDING_IS_ANYBODYS = "25: a pending input is left to its writer for a second, then it is anybody's."
    DEDUP_OUTLIVES_RETRIES = "25: an input is known for longer than its sender retries, and while it is pending."

    # Caches.
    CACHE_ONLY_ACKNOWLEDGED = "21: a state enters the cache when the append that made it has landed."
    CACHE_KEY_HAS_THE_EPOCH = "21: a cached state is valid for the last event's number and its writer's epoch."


class Invariant(Enum):
    """What is promised, in every state that can be reached."""

    ANSWER_KEPT = "an accepted answer is never lost, nor overwritten by its deadline"
    PAUSE_OBEYED = "nothing starts between an accepted pause and its resume"
    CANCEL_ENDS = "an accepted cancel ends the execution before anything else starts or completes it"
    LOG_IS_ONE_LINE = "the log's numbers are 1 to last_seq: nothing beyond, nothing twice"
    DONE_ONCE = "a node whose completion is durable is never called again"
    CALLED_UNDER_LEASE = "a call begins only on the instance that holds the claim"
    CALLED_BY_ONE_HAND = "an instance does not take over a call that it is still making"
    CALLED_WHEN_DURABLE = "a call begins only after the event that says so is durable"
    PAUSED_NAMES_ALL = "a paused execution knows the fate of every call"
    CLOSED_IS_CLOSED = "a closed execution accepts nothing and is never due"
    COMMANDS_SETTLED = "every accepted command is applied once, or settled as too late"
    NO_SPINNING = "no execution is claimed again and again without anything happening"
    NO_STILLNESS = "no open execution stands still without a reason"
    NO_TRAP = "whatever has happened, an end or a legitimate rest can be reached without anybody's help"

    CHILD_IS_ONE = "a child that is started twice is one child"
    PAUSE_REACHES_CHILDREN = "nothing starts in the child of a paused parent"
    SIGNAL_MEETS_ONCE = "a signal answers a point once"
    INPUT_STARTS_ONE = "an input of a trigger starts one execution"
    CACHE_IS_THE_LOG = "a state from the cache is the one that the log implies"
