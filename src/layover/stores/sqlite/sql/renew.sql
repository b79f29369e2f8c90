UPDATE heads SET wake_at = :until WHERE execution_id = :id AND owner = :owner AND epoch = :epoch
