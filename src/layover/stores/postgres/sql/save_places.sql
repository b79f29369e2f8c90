INSERT INTO layover.places (
    execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
)
SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM unnest(
    $1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::boolean[]
) AS given (execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted)
ON CONFLICT (execution_id) DO UPDATE
SET held_at = excluded.held_at, start_at = excluded.start_at, admitted = excluded.admitted
