SELECT EXISTS (SELECT FROM layover.heads WHERE created_at >= $1::bigint AND created_at < $2::bigint)
