SELECT 1 FROM layover.heads WHERE execution_id = $1::uuid FOR NO KEY UPDATE
