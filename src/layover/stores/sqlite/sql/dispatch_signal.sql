UPDATE signals SET dispatched = 1 WHERE id = :id
