INSERT INTO audit (id, at, user, act, target, execution_id, credential, request_id, details)
VALUES (:id, :at, :user, :act, :target, nullif(:execution_id, ''), :credential, :request_id, :details)
