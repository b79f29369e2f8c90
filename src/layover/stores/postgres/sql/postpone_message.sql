UPDATE layover.outbox SET due_at = $4::bigint WHERE sender = $1::uuid AND destination = $2::text AND n = $3::bigint
