SELECT p.era
FROM (
    SELECT substring(c.relname FROM '^events_([0-9]{1,9})$')::integer AS era
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'layover.events'::regclass
) AS p
WHERE p.era < $1::integer
ORDER BY p.era
