SELECT n.execution_id, n.seq, n.at, n.count, n.body
FROM unnest($1::uuid[], $2::integer[]) AS w (execution_id, era)
JOIN layover.events AS n ON n.execution_id = w.execution_id AND n.era = w.era
ORDER BY n.execution_id, n.seq
