-- Until the end of the transaction; each schema of a database has its own names.
SELECT pg_advisory_xact_lock(hashtextextended('layover.' || name, 0))
FROM unnest($1::text[]) WITH ORDINALITY AS given (name, place)
ORDER BY place
