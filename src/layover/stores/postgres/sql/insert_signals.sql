INSERT INTO layover.signals (id, name, key, at, data, dispatched)
SELECT id, name, key, at, data, dispatched
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::boolean[])
    AS given (id, name, key, at, data, dispatched)
