DROP TABLE layover.saved_views;
