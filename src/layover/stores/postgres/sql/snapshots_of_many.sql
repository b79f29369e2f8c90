SELECT execution_id, seq, body FROM layover.snapshots WHERE execution_id = ANY ($1::uuid[])
