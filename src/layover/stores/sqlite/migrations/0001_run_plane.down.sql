DROP TABLE locks;
DROP TABLE commands;
DROP TABLE pause_points;
DROP TABLE snapshots;
DROP TABLE events;
DROP TABLE executions;
DROP TABLE heads;
DROP TABLE versions;
