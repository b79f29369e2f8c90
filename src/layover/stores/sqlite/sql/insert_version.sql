INSERT INTO versions (workflow, number, hash, document, created_at)
VALUES (:workflow, :number, :hash, :document, :created_at)
