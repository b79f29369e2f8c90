SELECT
    heads.status IS NOT NULL AND heads.status NOT IN ('completed', 'failed', 'cancelled') AS is_open,
    places.execution_id, places.name, places.most, places.rank, places.held_at, places.rate, places.rate_limit,
    places.rate_per_ms, places.start_at, places.admitted
FROM layover.places AS places
LEFT JOIN layover.heads AS heads ON heads.execution_id = places.execution_id
WHERE places.name = $1::text AND places.held_at IS NULL AND (places.rank, places.execution_id) > ($2::bigint, $3::uuid)
ORDER BY places.rank, places.execution_id
LIMIT $4::integer
