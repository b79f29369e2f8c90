UPDATE heads SET wake_at = max(coalesce(wake_at, 0), :until) WHERE execution_id = :id AND owner = :owner AND epoch = :epoch
