moved AS (
    UPDATE layover.heads AS h
    SET last_seq = l.last_seq, last_epoch = l.epoch, status = l.status, commands_done = l.seen, takeovers = {takeovers},
        paused_at = CASE WHEN l.status = 'paused' THEN CASE WHEN h.status = 'paused' THEN h.paused_at ELSE l.at END END
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.passed
)
