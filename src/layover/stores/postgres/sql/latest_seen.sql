SELECT max(seen_at) FROM layover.instances
