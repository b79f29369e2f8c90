DROP TABLE layover.links;
