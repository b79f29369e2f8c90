SELECT execution_id FROM new_heads
