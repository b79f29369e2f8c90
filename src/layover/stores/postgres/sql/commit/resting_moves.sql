given_moves AS MATERIALIZED (
    SELECT
        execution_id,
        coalesce(owner, (:owners::text[])[1]) AS owner,
        coalesce(epoch, (:epochs::integer[])[1]) AS epoch,
        expected,
        coalesce(seen, (:seen::integer[])[1]) AS seen,
        expected + coalesce(total, (:totals::integer[])[1]) AS last_seq,
        coalesce(status, (:status::text[])[1]) AS status,
        coalesce(count, (:counts::integer[])[1]) AS count,
        at, body, rests, wake_at, missing, since
    FROM unnest(
        :ids::uuid[], :owners::text[], :epochs::integer[], :expected::integer[], :seen::integer[],
        :totals::integer[], :status::text[], :counts::integer[], :at::bigint[], :bodies::bytea[],
        :rests::boolean[], :wake_at::bigint[], :missing::text[], :since::bigint[]
    ) AS g (
        execution_id, owner, epoch, expected, seen, total, status, count, at, body, rests, wake_at, missing, since
    )
)
