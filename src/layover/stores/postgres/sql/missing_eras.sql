SELECT w.era
FROM unnest($1::integer[]) AS w (era)
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'layover.events'::regclass AND c.relname = 'events_' || w.era
)
ORDER BY w.era
