DROP INDEX heads_paused_of;
DROP INDEX heads_paused;
ALTER TABLE heads DROP COLUMN paused_at;
