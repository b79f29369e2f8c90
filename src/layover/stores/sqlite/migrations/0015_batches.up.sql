-- What was done to something that is no execution is sought by it: an act on it that is repeated is no act.
CREATE INDEX audit_by_target ON audit (target, at, id) WHERE execution_id IS NULL;

-- One act on many items: any instance claims a batch that is due, does a page of its items, and lets go of it.
CREATE TABLE batches (
    id BLOB NOT NULL PRIMARY KEY,
    act TEXT NOT NULL,
    wanted BLOB NOT NULL,
    arguments BLOB NOT NULL,
    caller BLOB NOT NULL,
    user TEXT NOT NULL,
    state TEXT NOT NULL,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    due_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    interval INTEGER NOT NULL,
    free_at INTEGER NOT NULL,
    share INTEGER NOT NULL,
    watch INTEGER NOT NULL,
    canary INTEGER NOT NULL,
    watch_until INTEGER,
    cursor TEXT NOT NULL,
    position INTEGER NOT NULL,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    failed INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX batches_due ON batches (due_at, id) WHERE state IN ('collecting', 'running', 'watching');
CREATE INDEX batches_by_time ON batches (created_at, id);
CREATE INDEX batches_ended ON batches (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE batch_items (
    batch_id BLOB NOT NULL,
    n INTEGER NOT NULL,
    target TEXT NOT NULL,
    parent TEXT NOT NULL,
    pin TEXT NOT NULL,
    state TEXT NOT NULL,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER,
    PRIMARY KEY (batch_id, n)
) WITHOUT ROWID;

CREATE INDEX batch_items_by_state ON batch_items (batch_id, state, n);
