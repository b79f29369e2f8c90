UPDATE heads
SET last_seq = :last_seq, last_epoch = :epoch, commands_done = :seen, takeovers = 0
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch AND last_seq = :expected AND commands_seq = :seen
    AND status = :status
