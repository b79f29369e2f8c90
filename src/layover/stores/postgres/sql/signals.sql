-- name: insert_signal
-- A signal that was stored before is left as it is.
INSERT INTO layover.signals (id, name, key, at, data, dispatched)
VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bytea, FALSE)
ON CONFLICT DO NOTHING
RETURNING TRUE

-- name: insert_signal_audited
-- One statement, so that a signal is one round trip.
WITH kept AS (
    INSERT INTO layover.signals (id, name, key, at, data, dispatched)
    VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bytea, FALSE)
    ON CONFLICT DO NOTHING
    RETURNING TRUE AS is_kept
),
acts AS MATERIALIZED (
    SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry,
        a.salt, a.leaf, a.document, a.body
    FROM unnest(
        $6::text[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
        $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[], $19::bytea[]
    ) AS a (
        id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf,
        document, body
    )
    WHERE EXISTS (SELECT 1 FROM kept)
),
audited AS (
    INSERT INTO layover.audit (
        id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document
    )
    SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details, nullif(entry, ''),
        nullif(salt, ''), nullif(leaf, ''), nullif(document, '')
    FROM acts
    ORDER BY at, id -- in every group, so that no two groups wait for each other
    ON CONFLICT DO NOTHING
),
documented AS (
    INSERT INTO layover.audit_documents (hash, body)
    SELECT DISTINCT document, body FROM acts WHERE body IS NOT NULL ORDER BY document
    ON CONFLICT DO NOTHING
)
SELECT is_kept FROM kept

-- name: waits_for_signal
-- Points, and paused workflows, which have no execution.
SELECT execution_id, point FROM layover.waits WHERE name = $1::text AND key = $2::text
UNION ALL
SELECT NULL::uuid, workflow FROM layover.standings WHERE resume_signal = $1::text AND resume_key = $2::text

-- name: insert_waits
-- For database copies.
INSERT INTO layover.waits (execution_id, name, key, point)
SELECT execution_id, name, key, point
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS given (execution_id, name, key, point)

-- name: signals_since
SELECT id, name, key, at, data
FROM layover.signals
WHERE name = $1::text AND key = $2::text AND at >= $3::bigint
ORDER BY at, id

-- name: undispatched_signals
SELECT id, name, key, at, data
FROM layover.signals
WHERE NOT dispatched AND at < $1::bigint
ORDER BY at, id
LIMIT $2::bigint

-- name: mark_signals_dispatched
-- Locks in the order of the ids, so that two instances cannot wait for each other.
WITH told AS MATERIALIZED (
    SELECT s.id, s.dispatched
    FROM unnest($1::text[]) AS g (id)
    JOIN layover.signals AS s ON s.id = g.id
    ORDER BY s.id
    FOR NO KEY UPDATE OF s
)
UPDATE layover.signals AS s
SET dispatched = TRUE
FROM told AS t
WHERE s.id = t.id AND NOT t.dispatched

-- name: delete_old_signals
WITH old AS MATERIALIZED (
    SELECT id
    FROM layover.signals
    WHERE dispatched AND at < $1::bigint
    ORDER BY at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.signals AS s USING old AS o WHERE s.id = o.id RETURNING 1
)
SELECT count(*) FROM gone
