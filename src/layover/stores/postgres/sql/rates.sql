SELECT name, used_until FROM layover.rates WHERE name = ANY ($1::text[])
