SELECT execution_id, workflow, created_at FROM locked WHERE passed
