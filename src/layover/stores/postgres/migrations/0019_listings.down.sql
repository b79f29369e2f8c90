DROP INDEX layover.executions_by_user;
