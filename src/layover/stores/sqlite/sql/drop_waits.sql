DELETE FROM waits WHERE point = :point
