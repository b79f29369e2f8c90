SELECT
    places.execution_id, places.name, places.most, places.rank, places.held_at, places.rate, places.rate_limit,
    places.rate_per_ms, places.start_at, places.admitted,
    CASE WHEN places.name IS NOT NULL AND places.held_at IS NULL THEN (
        SELECT count(*)
        FROM layover.places AS ahead
        WHERE
            ahead.name = places.name
            AND ahead.held_at IS NULL
            AND (ahead.rank, ahead.execution_id) < (places.rank, places.execution_id)
    ) ELSE 0 END AS ahead,
    ARRAY(
        SELECT holders.execution_id
        FROM layover.places AS holders
        WHERE holders.name = places.name AND holders.held_at IS NOT NULL
        ORDER BY holders.held_at, holders.execution_id
        LIMIT $2::integer
    ) AS holders
FROM layover.places AS places
WHERE places.execution_id = $1::uuid
