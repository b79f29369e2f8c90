WITH kept AS (
    INSERT INTO layover.signals (id, name, key, at, data, dispatched)
    VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bytea, FALSE)
    ON CONFLICT DO NOTHING
    RETURNING TRUE AS is_kept
),
audited AS (
    INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
    SELECT
        $6::text, $7::bigint, $8::text, $9::text, $10::text, nullif($11::text, ''), $12::text, $13::text, $14::bytea
    FROM kept
    ON CONFLICT DO NOTHING
)
SELECT is_kept FROM kept
