INSERT INTO keys (id, prefix, hash, name, user, roles, created_at, scopes, created_by, expires_at, ended_at)
VALUES (:id, :prefix, :hash, :name, :user, :roles, :created_at, :scopes, :created_by, :expires_at, :ended_at)
ON CONFLICT DO NOTHING
