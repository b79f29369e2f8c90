SELECT execution_id FROM locked WHERE passed
