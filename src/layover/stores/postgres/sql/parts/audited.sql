-- What a statement of the same name also does for commands with audit entries, in place of its line `-- audited`.

-- name: enqueue_commands
audited AS (
    INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
    SELECT a.id, a.at, a."user", a.act, a.target, nullif(a.execution_id, ''), a.credential, a.request_id, a.details
    FROM unnest(
        $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
        $15::text[], $16::bytea[]
    ) AS a (place, id, at, "user", act, target, execution_id, credential, request_id, details)
    WHERE (a.place IN (SELECT place FROM fresh)) IS TRUE
    ORDER BY a.at, a.id -- in every group, so that no two groups wait for each other
    ON CONFLICT DO NOTHING
)

-- name: write_answers
audited AS (
    INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
    SELECT a.id, a.at, a."user", a.act, a.target, nullif(a.execution_id, ''), a.credential, a.request_id, a.details
    FROM unnest(
        $15::uuid[], $16::text[], $17::bigint[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[],
        $23::text[], $24::bytea[]
    ) AS a (answered, id, at, "user", act, target, execution_id, credential, request_id, details)
    WHERE (a.answered IN (SELECT execution_id FROM locked)) IS TRUE
    ORDER BY a.at, a.id -- in every group, so that no two groups wait for each other
    ON CONFLICT DO NOTHING
)
