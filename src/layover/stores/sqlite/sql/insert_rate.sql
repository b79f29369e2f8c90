INSERT INTO rates (name, used_until) VALUES (:name, :used_until)
