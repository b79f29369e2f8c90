INSERT INTO layover.migrations (number, name, checksum, taken_at, compatible)
VALUES ($1::integer, $2::text, $3::text, $4::bigint, $5::boolean)
