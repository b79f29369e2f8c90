SELECT hash, point FROM tokens WHERE execution_id = :id ORDER BY hash
