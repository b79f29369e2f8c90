DROP TABLE layover.node_logs;
DROP TABLE layover.progress;
