SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM layover.heads AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE h.status = 'paused'
    -- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted
    -- may be rare by now.
    AND (h.workflow, coalesce(h.paused_at, h.created_at), h.execution_id) > ($4::text, $2::bigint, $3::uuid)
    AND h.workflow <= $4::text
ORDER BY h.workflow, coalesce(h.paused_at, h.created_at), h.execution_id
LIMIT $1::bigint
