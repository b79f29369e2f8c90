SELECT min(at) FROM signals WHERE dispatched = 0
