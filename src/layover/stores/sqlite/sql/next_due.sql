SELECT min(wake_at) FROM heads WHERE wake_at > :now
