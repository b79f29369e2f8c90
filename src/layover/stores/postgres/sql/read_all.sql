SELECT set_config('enable_seqscan', 'on', TRUE)
