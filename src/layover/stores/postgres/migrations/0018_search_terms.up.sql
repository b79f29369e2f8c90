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

-- Terms go with the head of their execution, whatever deletes it: an instance of an earlier release, too, and a purge that had
-- begun before they were written. Rows are sought by the whole key, however large the table was when this was planned.
CREATE FUNCTION layover.forget_terms() RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS '
BEGIN
    DELETE FROM layover.search_terms AS s
    USING (
        SELECT g.execution_id, g.created_at, substring(i.terms FROM n.start FOR 17) AS term
        FROM gone AS g
        JOIN layover.indexed_executions AS i ON i.execution_id = g.execution_id
        CROSS JOIN LATERAL generate_series(1, length(i.terms), 17) AS n (start)
        OFFSET 0
    ) AS w
    WHERE s.term = w.term AND s.created_at = w.created_at AND s.execution_id = w.execution_id;
    DELETE FROM layover.indexed_executions AS i USING gone AS g WHERE i.execution_id = g.execution_id;
    RETURN NULL;
END
';

CREATE TRIGGER forget_terms AFTER DELETE ON layover.heads REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION layover.forget_terms();
