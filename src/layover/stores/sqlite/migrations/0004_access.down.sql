DROP TABLE standings;
DROP TABLE replies;
DROP TABLE audit;
DROP TABLE keys;
