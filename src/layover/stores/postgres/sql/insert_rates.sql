INSERT INTO layover.rates (name, used_until)
SELECT name, used_until FROM unnest($1::text[], $2::bigint[]) AS given (name, used_until)
