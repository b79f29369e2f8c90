-- Whether a trigger belongs to a definition, or was made by itself.
ALTER TABLE triggers ADD COLUMN managed INTEGER NOT NULL DEFAULT 1;

-- How many triggers are in which state, and which have pending inputs.
CREATE INDEX triggers_by_state ON triggers (state);
CREATE INDEX trigger_inputs_pending ON trigger_inputs (trigger_id) WHERE state = 'pending';

-- Addresses of webhooks whose senders cannot sign; of the token in an address only the hash is known.
CREATE TABLE trigger_tokens (
    hash TEXT NOT NULL PRIMARY KEY,
    trigger_id BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    until INTEGER
) WITHOUT ROWID;

CREATE INDEX trigger_tokens_by_trigger ON trigger_tokens (trigger_id);
