SELECT seen_at FROM layover.instances WHERE name = $1::text
