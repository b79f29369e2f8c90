SELECT n, at, kind, body, source, source_n FROM commands WHERE execution_id = :id AND n > :after ORDER BY n
