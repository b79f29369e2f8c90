-- What a statement of the same name also does for commands with audit entries, in place of its line `-- audited`.

-- name: enqueue_commands
acts AS MATERIALIZED (
    SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry,
        a.salt, a.leaf, a.document, a.body
    FROM unnest(
        $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
        $15::text[], $16::bytea[], $17::bytea[], $18::bytea[], $19::bytea[], $20::bytea[], $21::bytea[]
    ) AS a (
        place, id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf,
        document, body
    )
    WHERE (a.place IN (SELECT place FROM fresh)) IS TRUE
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

-- name: write_answers
acts AS MATERIALIZED (
    SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry,
        a.salt, a.leaf, a.document, a.body
    FROM unnest(
        $16::uuid[], $17::text[], $18::bigint[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[],
        $24::text[], $25::bytea[], $26::bytea[], $27::bytea[], $28::bytea[], $29::bytea[], $30::bytea[]
    ) AS a (
        answered, id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf,
        document, body
    )
    WHERE (a.answered IN (SELECT execution_id FROM locked)) IS TRUE
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
