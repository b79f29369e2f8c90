-- name: lock_head
-- Before an append is decided again: no command can arrive until the transaction ends.
SELECT 1 FROM layover.heads WHERE execution_id = $1::uuid FOR NO KEY UPDATE

-- name: insert_entries
-- For database copies; appends write entries with `parts/group_commit.sql`.
INSERT INTO layover.events (execution_id, era, seq, at, count, body)
SELECT execution_id, era, seq, at, count, body
FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::bigint[], $5::integer[], $6::bytea[])
    AS given (execution_id, era, seq, at, count, body)
