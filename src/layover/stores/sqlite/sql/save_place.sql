INSERT INTO places (execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted)
VALUES (:id, :name, :most, :rank, :held_at, :rate, :rate_limit, :rate_per_ms, :start_at, :admitted)
ON CONFLICT (execution_id) DO UPDATE
SET held_at = excluded.held_at, start_at = excluded.start_at, admitted = excluded.admitted
