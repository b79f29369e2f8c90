SELECT name, used_until FROM rates WHERE name > :after ORDER BY name LIMIT :most
