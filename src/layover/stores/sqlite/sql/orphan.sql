UPDATE heads SET wake_at = :now WHERE owner = :owner AND wake_at > :now
