"""Pages for people: HTML that is made by the server, needs no JavaScript, and escapes every value."""
