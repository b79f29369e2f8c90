UPDATE standings SET state = 'active', changed_at = :now, reason = '', changed_by = :by
WHERE workflow = :workflow AND state = 'deleted'
