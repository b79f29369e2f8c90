UPDATE heads SET takeovers = :takeovers WHERE execution_id = :id
