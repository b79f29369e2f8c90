-- compatible
-- Whether a trigger belongs to a definition, or was made by itself.
ALTER TABLE layover.triggers ADD COLUMN managed boolean NOT NULL DEFAULT TRUE;

-- Addresses of webhooks whose senders cannot sign; of the token in an address only the hash is known.
CREATE TABLE layover.trigger_tokens (
    hash text COLLATE "C" NOT NULL PRIMARY KEY,
    trigger_id uuid NOT NULL,
    made_at bigint NOT NULL,
    until bigint
);

CREATE INDEX trigger_tokens_by_trigger ON layover.trigger_tokens (trigger_id);
