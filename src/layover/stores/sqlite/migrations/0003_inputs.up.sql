-- What an execution began with, as JSON, if it can be found by it.
ALTER TABLE executions ADD COLUMN input BLOB;
