SELECT status, count(*) FROM heads GROUP BY status
