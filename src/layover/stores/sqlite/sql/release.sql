UPDATE heads SET owner = NULL, wake_at = :wake_at WHERE execution_id = :id AND owner = :owner AND epoch = :epoch
