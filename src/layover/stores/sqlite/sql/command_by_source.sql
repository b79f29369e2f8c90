SELECT n FROM commands WHERE execution_id = :id AND source = :source AND source_n = :source_n
