DROP TABLE node_logs;
DROP TABLE progress;
