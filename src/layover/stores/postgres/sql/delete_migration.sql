DELETE FROM layover.migrations WHERE number = $1::integer
