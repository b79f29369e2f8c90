DROP INDEX layover.pause_points_waiting_of;
DROP INDEX layover.pause_points_waiting_of_kind;
DROP INDEX layover.heads_paused_of;
DROP INDEX layover.heads_paused_longest;
ALTER TABLE layover.heads DROP COLUMN paused_at;
