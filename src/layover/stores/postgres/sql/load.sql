SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number,
    s.body, l.seqs, l.moments, l.counts, l.bodies
FROM unnest($1::uuid[]) WITH ORDINALITY AS w (execution_id, place)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
JOIN layover.executions AS e ON e.execution_id = w.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
LEFT JOIN layover.snapshots AS s ON s.execution_id = w.execution_id
CROSS JOIN LATERAL (
    SELECT
        array_agg(o.seq) AS seqs, array_agg(o.at) AS moments, array_agg(o.count) AS counts, array_agg(o.body) AS bodies
    FROM (
        SELECT n.seq, n.at, n.count, n.body
        FROM layover.events AS n
        WHERE n.execution_id = h.execution_id
            AND n.era = floor(h.created_at / 604800000.0::double precision)::integer
            AND n.seq > coalesce(s.seq, -1)
        ORDER BY n.seq
    ) AS o
) AS l
ORDER BY w.place
