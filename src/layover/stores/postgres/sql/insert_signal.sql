INSERT INTO layover.signals (id, name, key, at, data, dispatched)
VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bytea, FALSE)
ON CONFLICT DO NOTHING
RETURNING TRUE
