DROP TABLE layover.user_settings;
