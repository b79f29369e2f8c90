DELETE FROM layover.places WHERE execution_id = ANY ($1::uuid[])
