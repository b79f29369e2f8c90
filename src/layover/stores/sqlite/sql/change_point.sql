UPDATE pause_points SET status = :status, body = :body WHERE id = :point
