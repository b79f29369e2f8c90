SELECT n
FROM layover.commands
WHERE execution_id = $1::uuid AND source = $2::text AND source_n = 0
