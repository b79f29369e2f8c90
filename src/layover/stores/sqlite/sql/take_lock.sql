INSERT INTO locks (name, holder, until) VALUES (:name, :holder, :until)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE locks.holder = excluded.holder OR locks.until <= :now
