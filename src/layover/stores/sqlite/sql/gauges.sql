SELECT
    status,
    count(*),
    sum(commands_seq - commands_done),
    coalesce(sum(wake_at <= :now), 0),
    coalesce(sum(paused_at < :before), 0),
    min(paused_at)
FROM heads
GROUP BY status
