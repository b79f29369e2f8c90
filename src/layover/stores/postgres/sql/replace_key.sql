UPDATE layover.keys SET ended_at = $2::bigint WHERE id = $1::text AND ended_at IS NULL RETURNING TRUE
