SELECT name FROM layover.places WHERE execution_id = $1::uuid
