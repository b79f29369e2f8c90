moved AS (
    UPDATE layover.heads AS h
    SET last_seq = l.last_seq, last_epoch = l.epoch, status = l.status, commands_done = l.seen, takeovers = 0
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.passed
)
