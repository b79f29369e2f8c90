DROP TABLE people_roles;
DROP TABLE people;
DROP TABLE destinations;
DROP TABLE deliveries;
