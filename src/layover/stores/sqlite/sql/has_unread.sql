SELECT 1 FROM heads WHERE execution_id = :id AND commands_seq > :seen
