audited AS (
    INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
    SELECT a.id, a.at, a."user", a.act, a.target, nullif(a.execution_id, ''), a.credential, a.request_id, a.details
    FROM unnest(
        :audited_ids::uuid[], :audit_ids::text[], :audit_at::bigint[], :audit_users::text[], :audit_acts::text[],
        :audit_targets::text[], :audit_executions::text[], :audit_credentials::text[], :audit_requests::text[],
        :audit_details::bytea[]
    ) AS a (audited, id, at, "user", act, target, execution_id, credential, request_id, details)
    WHERE (a.audited IN (SELECT execution_id FROM won)) IS TRUE
    ORDER BY a.at, a.id -- in every group, so that no two wait for each other
    ON CONFLICT DO NOTHING
)
