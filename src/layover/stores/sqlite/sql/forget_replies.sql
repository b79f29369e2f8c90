DELETE FROM replies
WHERE rowid IN (SELECT rowid FROM replies WHERE until <= :now ORDER BY until LIMIT :most)
