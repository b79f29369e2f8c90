SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM places
WHERE name = :name AND held_at IS NULL
ORDER BY rank, execution_id
LIMIT 1
