SELECT
    heads.status,
    (SELECT count(*) FROM layover.places AS held WHERE held.name = $2::text AND held.held_at IS NOT NULL) AS held,
    (SELECT rates.used_until FROM layover.rates AS rates WHERE rates.name = $3::text) AS used_until,
    places.execution_id, places.name, places.most, places.rank, places.held_at, places.rate, places.rate_limit,
    places.rate_per_ms, places.start_at, places.admitted
FROM layover.heads AS heads
LEFT JOIN layover.places AS places ON places.execution_id = heads.execution_id
WHERE heads.execution_id = $1::uuid
