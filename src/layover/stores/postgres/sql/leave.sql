DELETE FROM layover.instances WHERE name = $1::text
