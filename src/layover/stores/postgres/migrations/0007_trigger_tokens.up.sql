-- compatible
-- Whether a trigger belongs to a definition, or was made by itself.
ALTER TABLE layover.triggers ADD COLUMN managed boolean NOT NULL DEFAULT TRUE;

-- How many triggers are in which state, and which have pending inputs.
CREATE INDEX triggers_by_state ON layover.triggers (state);
CREATE INDEX trigger_inputs_pending ON layover.trigger_inputs (trigger_id) WHERE state = 'pending';

-- Addresses of webhooks whose senders cannot sign; of the token in an address only the hash is known.
CREATE TABLE layover.trigger_tokens (
    hash text COLLATE "C" NOT NULL PRIMARY KEY,
    trigger_id uuid NOT NULL,
    made_at bigint NOT NULL,
    until bigint
);

CREATE INDEX trigger_tokens_by_trigger ON layover.trigger_tokens (trigger_id);
