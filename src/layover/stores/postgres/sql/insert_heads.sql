INSERT INTO layover.heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at, created_at
)
SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers,
    CASE WHEN missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(missing::jsonb)) END,
    missing_since, paused_at, created_at
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::text[],
    $9::bigint[], $10::integer[], $11::integer[], $12::integer[], $13::text[], $14::bigint[], $15::bigint[],
    $16::bigint[]
) AS given (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at, created_at
)
