SELECT status, count(*) FROM layover.heads GROUP BY status
