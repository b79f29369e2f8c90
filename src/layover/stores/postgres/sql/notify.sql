SELECT set_config('synchronous_commit', 'off', TRUE), pg_notify($1::text, $2::text)
