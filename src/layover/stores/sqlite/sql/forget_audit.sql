DELETE FROM audit
WHERE (at, id) IN (SELECT at, id FROM audit WHERE at < :before ORDER BY at, id LIMIT :most)
