UPDATE pause_points SET status = :how, closed_at = :at WHERE id = :point
