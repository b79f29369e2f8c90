moved AS (
    UPDATE layover.heads AS h
    SET last_seq = l.last_seq, last_epoch = l.epoch, status = l.status, commands_done = l.seen, takeovers = {takeovers},
        paused_at = CASE
            WHEN l.status = 'paused'
                THEN coalesce(l.since, CASE WHEN h.status = 'paused' THEN h.paused_at ELSE l.at END)
        END,
        owner = CASE WHEN l.rests THEN NULL ELSE h.owner END,
        wake_at = CASE WHEN l.rests THEN l.wake_at ELSE h.wake_at END,
        missing = CASE
            WHEN NOT l.rests THEN h.missing
            WHEN l.missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(l.missing::jsonb))
        END,
        missing_since = CASE
            WHEN NOT l.rests THEN h.missing_since
            WHEN l.missing IS NOT NULL THEN coalesce(h.missing_since, l.at)
        END
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.passed
)
