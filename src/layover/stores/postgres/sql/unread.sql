SELECT w.execution_id
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w (execution_id, seen, place)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
WHERE h.commands_seq > w.seen
ORDER BY w.place
