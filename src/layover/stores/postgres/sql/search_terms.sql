-- The search index, and the list of executions by it. `paging.py` checks the rest of a filter row by row.

-- name: list_executions_of_terms
-- What the index finds, what it does not have yet, and what runs, in one statement: between two, an execution could go from
-- one of these to another, and be in none.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT either.created_at, either.execution_id
    FROM (
        SELECT found.created_at, found.execution_id
        FROM unnest($4::bytea[]) AS w (term)
        CROSS JOIN LATERAL (
            SELECT t.created_at, t.execution_id
            FROM layover.search_terms AS t
            WHERE (t.term, t.created_at, t.execution_id) < (w.term, $2::bigint, $3::uuid) AND t.term >= w.term
            ORDER BY t.term DESC, t.created_at DESC, t.execution_id DESC
            LIMIT $1::bigint -- of each term
        ) AS found
        UNION
        SELECT t.created_at, t.execution_id
        FROM layover.search_terms AS t
        WHERE t.term >= $5::bytea AND t.term <= $6::bytea AND (t.created_at, t.execution_id) < ($2::bigint, $3::uuid)
        UNION
        SELECT waiting.created_at, waiting.execution_id
        FROM (
            SELECT h.created_at, h.execution_id
            FROM layover.heads AS h
            WHERE h.unindexed AND (h.created_at, h.execution_id) < ($2::bigint, $3::uuid)
            ORDER BY h.created_at DESC, h.execution_id DESC
            LIMIT $1::bigint
        ) AS waiting
        UNION
        SELECT running.created_at, running.execution_id
        FROM (
            SELECT h.created_at, h.execution_id
            FROM layover.heads AS h
            WHERE h.status <> 'completed'
                -- All columns of the index, so that no other index fits, however old the statistics are.
                AND (h.status, h.created_at, h.execution_id) < ('running', $2::bigint, $3::uuid)
                AND h.status >= 'running'
            ORDER BY h.status DESC, h.created_at DESC, h.execution_id DESC
            LIMIT $1::bigint
        ) AS running
    ) AS either
    ORDER BY either.created_at DESC, either.execution_id DESC
    LIMIT $1::bigint
) AS c
JOIN layover.heads AS h ON h.execution_id = c.execution_id
JOIN layover.executions AS e ON e.execution_id = c.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY c.created_at DESC, c.execution_id DESC

-- name: unindexed_executions
SELECT created_at, execution_id
FROM layover.heads
WHERE unindexed AND (created_at, execution_id) < ($2::bigint, $3::uuid)
ORDER BY created_at DESC, execution_id DESC
LIMIT $1::bigint

-- name: count_unindexed
SELECT count(*)
FROM (SELECT 1 FROM layover.heads WHERE unindexed AND created_at < 9223372036854775807 LIMIT $1::bigint) AS s

-- name: count_terms
SELECT counted.terms
FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS w (first, last, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS terms
    FROM (
        SELECT 1
        FROM layover.search_terms AS t
        WHERE t.term >= w.first AND t.term <= w.last
        LIMIT $3::bigint
    ) AS s
) AS counted
ORDER BY w.place

-- name: terms_of_executions
SELECT h.execution_id, h.last_seq, i.terms
FROM unnest($1::uuid[]) AS w (execution_id)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
LEFT JOIN layover.indexed_executions AS i ON i.execution_id = w.execution_id
WHERE (h.unindexed = FALSE) IS TRUE -- not sought by: the key is enough

-- name: save_terms_of_executions
-- Heads that others have locked are left for later: nobody waits for the index. Only what differs is written.
WITH fresh AS MATERIALIZED (
    SELECT h.execution_id, h.created_at, g.terms
    FROM unnest($1::uuid[], $2::integer[], $3::bytea[]) AS g (execution_id, last_seq, terms)
    JOIN layover.heads AS h ON h.execution_id = g.execution_id
    WHERE h.last_seq = g.last_seq AND (h.unindexed = TRUE) IS TRUE -- not sought by: the key is enough
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h SKIP LOCKED
),
marked AS (
    UPDATE layover.heads AS h SET unindexed = FALSE FROM fresh AS f WHERE h.execution_id = f.execution_id
),
before AS MATERIALIZED (
    SELECT f.execution_id, f.created_at, substring(i.terms FROM n.start FOR 17) AS term
    FROM fresh AS f
    JOIN layover.indexed_executions AS i ON i.execution_id = f.execution_id
    CROSS JOIN LATERAL generate_series(1, length(i.terms), 17) AS n (start)
),
since AS MATERIALIZED (
    SELECT f.execution_id, f.created_at, substring(f.terms FROM n.start FOR 17) AS term
    FROM fresh AS f
    CROSS JOIN LATERAL generate_series(1, length(f.terms), 17) AS n (start)
),
gone AS (
    DELETE FROM layover.search_terms AS t
    USING (SELECT term, created_at, execution_id FROM before EXCEPT SELECT term, created_at, execution_id FROM since) AS d
    WHERE t.term = d.term AND t.created_at = d.created_at AND t.execution_id = d.execution_id
),
added AS (
    INSERT INTO layover.search_terms (term, created_at, execution_id)
    SELECT term, created_at, execution_id FROM since EXCEPT SELECT term, created_at, execution_id FROM before
    ON CONFLICT DO NOTHING
),
saved AS (
    INSERT INTO layover.indexed_executions (execution_id, terms)
    SELECT execution_id, terms FROM fresh
    ON CONFLICT (execution_id) DO UPDATE SET terms = excluded.terms
)
SELECT count(*) FROM fresh
