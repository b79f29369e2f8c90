SELECT execution_id, point FROM waits WHERE name = :name AND key = :key ORDER BY point
