DROP TABLE layover.people;
DROP TABLE layover.destinations;
DROP TABLE layover.deliveries;
