SELECT g.execution_id, g.workflow, g.created_at FROM new_heads JOIN given_new AS g USING (execution_id)
