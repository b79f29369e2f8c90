DROP INDEX layover.heads_paused_of;
DROP INDEX layover.heads_paused_longest;
ALTER TABLE layover.heads DROP COLUMN paused_at;
