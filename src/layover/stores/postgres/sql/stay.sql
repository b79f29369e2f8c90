INSERT INTO layover.instances (name, seen_at) VALUES ($1::text, $2::bigint)
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
RETURNING (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint
