SELECT name, used_until FROM layover.rates WHERE name > $1::text ORDER BY name LIMIT $2::bigint
