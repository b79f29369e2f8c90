SELECT execution_id, point FROM layover.tokens WHERE hash = $1::bytea
