audited AS (
    INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
    SELECT a.id, a.at, a."user", a.act, a.target, nullif(a.execution_id, ''), a.credential, a.request_id, a.details
    FROM unnest(
        $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
        $15::text[], $16::bytea[]
    ) AS a (place, id, at, "user", act, target, execution_id, credential, request_id, details)
    WHERE (a.place IN (SELECT place FROM fresh)) IS TRUE
    ORDER BY a.at, a.id -- in every group, so that no two wait for each other
    ON CONFLICT DO NOTHING
)
