DROP TABLE layover.standings;
DROP TABLE layover.replies;
DROP TABLE layover.audit;
DROP TABLE layover.keys;
