DELETE FROM layover.replies WHERE scope = $1::text AND key = $2::text AND status = 0
