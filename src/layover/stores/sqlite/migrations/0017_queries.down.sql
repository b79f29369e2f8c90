DROP VIEW event_rows;
DROP TABLE saved_views;
