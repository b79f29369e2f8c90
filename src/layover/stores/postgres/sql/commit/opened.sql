opened AS (
    INSERT INTO layover.pause_points (
        execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema
    )
    SELECT
        p.execution_id, p.id,
        coalesce(p.workflow, (SELECT h.workflow FROM layover.heads AS h WHERE h.execution_id = p.execution_id)),
        p.kind, p.status, p.opened_at, p.closed_at, p.body, p.schema
    FROM unnest(
        :opened_ids::uuid[], :opened_points::text[], :opened_kinds::text[], :opened_status::text[],
        :opened_at::bigint[], :opened_closed_at::bigint[], :opened_bodies::bytea[], :opened_schemas::bytea[],
        :opened_workflows::text[]
    ) AS p (execution_id, id, kind, status, opened_at, closed_at, body, schema, workflow)
    WHERE (p.execution_id IN (SELECT execution_id FROM won)) IS TRUE
)
