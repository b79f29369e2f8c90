-- name: list_views
SELECT user, name, body, changed_at FROM saved_views WHERE user = :user ORDER BY name

-- name: read_views
SELECT user, name, body, changed_at
FROM saved_views
WHERE (user, name) > (:user, :name)
ORDER BY user, name
LIMIT :limit

-- name: save_view
INSERT INTO saved_views (user, name, body, changed_at)
SELECT :user, :name, :body, :changed_at
WHERE
    EXISTS (SELECT 1 FROM saved_views WHERE user = :user AND name = :name)
    OR (SELECT count(*) FROM saved_views WHERE user = :user) < :most
ON CONFLICT (user, name) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at

-- name: copy_view
INSERT INTO saved_views (user, name, body, changed_at) VALUES (:user, :name, :body, :changed_at) ON CONFLICT DO NOTHING

-- name: delete_view
DELETE FROM saved_views WHERE user = :user AND name = :name
