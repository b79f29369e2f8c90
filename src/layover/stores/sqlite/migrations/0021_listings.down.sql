DROP INDEX executions_by_user;
