DROP INDEX pause_points_waiting_of;
DROP INDEX pause_points_waiting_of_kind;
DROP INDEX heads_paused_of;
DROP INDEX heads_paused;
ALTER TABLE heads DROP COLUMN paused_at;
