-- name: insert_signal
-- A signal that was stored before is left as it is.
INSERT INTO signals (id, name, key, at, data, dispatched) VALUES (:id, :name, :key, :at, :data, 0) ON CONFLICT DO NOTHING

-- name: waits_for_signal
-- Points, and paused workflows, which have no execution.
SELECT execution_id, point FROM waits WHERE name = :name AND key = :key
UNION ALL
SELECT NULL, workflow FROM standings WHERE resume_signal = :name AND resume_key = :key

-- name: insert_waits
INSERT INTO waits (name, key, point, execution_id) VALUES (:name, :key, :point, :id) ON CONFLICT DO NOTHING

-- name: delete_waits
DELETE FROM waits WHERE point = :point

-- name: signals_since
SELECT id, name, key, at, data FROM signals WHERE name = :name AND key = :key AND at >= :since ORDER BY at, id

-- name: undispatched_signals
SELECT id, name, key, at, data FROM signals WHERE dispatched = 0 AND at < :before ORDER BY at, id LIMIT :most

-- name: oldest_undispatched_at
SELECT min(at) FROM signals WHERE dispatched = 0

-- name: mark_signals_dispatched
UPDATE signals SET dispatched = 1 WHERE id = :id

-- name: delete_old_signals
DELETE FROM signals
WHERE id IN (SELECT id FROM signals WHERE dispatched = 1 AND at < :before ORDER BY at, id LIMIT :most)
