SELECT (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint
