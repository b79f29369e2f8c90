DROP TABLE layover.sessions;
