UPDATE heads
SET commands_seq = commands_seq + 1, wake_at = CASE WHEN owner IS NULL THEN :now ELSE wake_at END
WHERE execution_id = :id
