DELETE FROM replies WHERE scope = :scope AND key = :key AND status = 0
