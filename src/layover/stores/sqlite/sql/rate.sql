SELECT used_until FROM rates WHERE name = :name
