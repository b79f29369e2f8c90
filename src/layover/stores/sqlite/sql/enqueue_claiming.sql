UPDATE heads
SET commands_seq = :n, owner = :owner, epoch = epoch + 1, wake_at = :lease_until
WHERE execution_id = :id
