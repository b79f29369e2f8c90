INSERT INTO layover.instances AS i (name, seen_at) VALUES ($1::text, $2::bigint)
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at WHERE i.seen_at <= $3::bigint
RETURNING name
