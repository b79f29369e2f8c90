ended AS (
    UPDATE layover.executions AS e
    SET finished_at = c.finished_at, outcome = c.outcome, error_code = c.error_code
    FROM unnest(:ended_ids::uuid[], :ended_at::bigint[], :ended_outcomes::text[], :ended_error_codes::text[])
        AS c (execution_id, finished_at, outcome, error_code)
    WHERE e.execution_id = c.execution_id AND (c.execution_id IN (SELECT execution_id FROM won)) IS TRUE
)
