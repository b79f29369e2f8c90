SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM layover.places
WHERE execution_id = ANY ($1::uuid[])
