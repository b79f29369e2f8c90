SELECT name
FROM layover.instances
WHERE seen_at > (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint - $1::bigint
ORDER BY name
