audited AS (
    INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
    SELECT a.id, a.at, a."user", a.act, a.target, nullif(a.execution_id, ''), a.credential, a.request_id, a.details
    FROM unnest(
        $14::uuid[], $15::text[], $16::bigint[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
        $22::text[], $23::bytea[]
    ) AS a (answered, id, at, "user", act, target, execution_id, credential, request_id, details)
    WHERE (a.answered IN (SELECT execution_id FROM locked)) IS TRUE
    ORDER BY a.at, a.id -- in every group, so that no two wait for each other
    ON CONFLICT DO NOTHING
)
