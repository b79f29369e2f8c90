-- name: bump_commands_seq
-- An execution that no instance drives becomes due.
UPDATE heads
SET commands_seq = commands_seq + 1, wake_at = CASE WHEN owner IS NULL THEN :now ELSE wake_at END
WHERE execution_id = :id

-- name: bump_commands_seq_and_claim
-- The instance that took the answer goes on with the execution.
UPDATE heads
SET commands_seq = :n, owner = :owner, epoch = epoch + 1, wake_at = :lease_until
WHERE execution_id = :id

-- name: insert_commands
INSERT INTO commands (execution_id, n, at, kind, body, source, source_n)
VALUES (:id, :n, :at, :kind, :body, :source, :source_n)

-- name: command_by_source
SELECT n FROM commands WHERE execution_id = :id AND source = :source AND source_n = :source_n

-- name: commands_after
SELECT n, at, kind, body, source, source_n FROM commands WHERE execution_id = :id AND n > :after ORDER BY n

-- name: has_unread_commands
SELECT 1 FROM heads WHERE execution_id = :id AND commands_seq > :seen
