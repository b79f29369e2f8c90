SELECT scope, key, fingerprint, until, status, body FROM replies WHERE scope = :scope AND key = :key
