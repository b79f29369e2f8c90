-- name: people_by_name
SELECT user, roles, body, changed_at FROM people WHERE user IN (SELECT value FROM json_each(:users))

-- name: people_of_role
SELECT user FROM people_roles WHERE role = :role

-- name: list_people
SELECT user, roles, body, changed_at FROM people WHERE user > :after ORDER BY user LIMIT :limit

-- name: save_people
INSERT INTO people (user, roles, body, changed_at)
VALUES (:user, :roles, :body, :changed_at)
ON CONFLICT (user) DO UPDATE SET roles = excluded.roles, body = excluded.body, changed_at = excluded.changed_at

-- name: delete_roles_of_person
DELETE FROM people_roles WHERE user = :user

-- name: insert_roles_of_people
INSERT INTO people_roles (role, user) VALUES (:role, :user) ON CONFLICT DO NOTHING

-- name: delete_person
DELETE FROM people WHERE user = :user
