UPDATE heads SET owner = ?, epoch = epoch + 1, wake_at = ?, takeovers = takeovers + ? WHERE execution_id = ?
