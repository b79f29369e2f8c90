DELETE FROM layover.locks WHERE name = $1::text AND holder = $2::text
