INSERT INTO layover.executions (
    execution_id, version_id, created_at, "user", parent_id, correlation_id, tags, finished_at, outcome, error_code,
    input
)
SELECT
    g.execution_id,
    (
        SELECT v.id
        FROM layover.versions AS v
        WHERE v.hash = g.hash AND v.workflow = g.workflow
        ORDER BY v.number
        LIMIT 1
    ),
    g.created_at, g."user", g.parent_id, g.correlation_id,
    CASE WHEN g.tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.tags::jsonb)) END,
    g.finished_at, g.outcome, g.error_code, g.input
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::bigint[],
    $10::text[], $11::text[], $12::jsonb[]
) AS g (
    execution_id, workflow, hash, created_at, "user", parent_id, correlation_id, tags, finished_at, outcome, error_code,
    input
)
