-- compatible
-- Search terms: keys of 17 bytes, each the hash of a path and a value there. All executions wait to be indexed.
ALTER TABLE layover.heads ADD COLUMN unindexed boolean NOT NULL DEFAULT TRUE;

CREATE INDEX heads_unindexed ON layover.heads (created_at, execution_id) WHERE unindexed;

CREATE TABLE layover.search_terms (
    created_at bigint NOT NULL,
    execution_id uuid NOT NULL,
    term bytea NOT NULL,
    PRIMARY KEY (term, created_at, execution_id)
);

-- The terms of each execution, one after the other: those that it has no more are found by it.
CREATE TABLE layover.indexed_executions (
    execution_id uuid PRIMARY KEY,
    terms bytea NOT NULL
);

-- An instance of an earlier release does not mark what it changes. This does it in its stead; what this release writes is
-- marked already, and never comes to the function.
CREATE FUNCTION layover.mark_unindexed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.unindexed := TRUE; RETURN NEW; END';

CREATE TRIGGER mark_unindexed BEFORE UPDATE OF last_seq ON layover.heads FOR EACH ROW
WHEN (NOT NEW.unindexed AND NEW.last_seq > OLD.last_seq AND (NEW.status <> 'running' OR NEW.owner IS NULL))
EXECUTE FUNCTION layover.mark_unindexed();
