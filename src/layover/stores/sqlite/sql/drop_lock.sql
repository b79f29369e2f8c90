DELETE FROM locks WHERE name = :name AND holder = :holder
