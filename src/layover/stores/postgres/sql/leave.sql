DELETE FROM layover.instances WHERE name = ANY($1::text[])
