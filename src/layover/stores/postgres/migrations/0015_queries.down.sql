DROP VIEW layover.event_rows;
DROP TABLE layover.saved_views;
