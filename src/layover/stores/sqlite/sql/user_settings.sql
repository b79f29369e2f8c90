-- name: find_user_settings
SELECT user, body, changed_at FROM user_settings WHERE user = :user

-- name: read_user_settings
SELECT user, body, changed_at FROM user_settings WHERE user > :after ORDER BY user LIMIT :limit

-- name: save_user_settings
INSERT INTO user_settings (user, body, changed_at)
VALUES (:user, :body, :changed_at)
ON CONFLICT (user) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at

-- name: copy_user_settings
INSERT INTO user_settings (user, body, changed_at) VALUES (:user, :body, :changed_at) ON CONFLICT DO NOTHING
