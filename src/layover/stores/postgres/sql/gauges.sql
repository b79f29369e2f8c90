SELECT
    status,
    count(*) AS executions,
    sum(commands_seq - commands_done)::bigint AS commands,
    count(*) FILTER (WHERE wake_at <= $1::bigint) AS due,
    count(*) FILTER (WHERE status = 'paused' AND coalesce(paused_at, created_at) < $2::bigint) AS paused_long,
    min(coalesce(paused_at, created_at)) FILTER (WHERE status = 'paused') AS oldest_paused
FROM layover.heads
GROUP BY status
