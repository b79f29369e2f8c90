DELETE FROM outbox WHERE sender = :sender AND destination = :destination AND n = :n
