INSERT INTO rates (name, used_until) VALUES (:name, :used_until)
ON CONFLICT (name) DO UPDATE SET used_until = excluded.used_until
