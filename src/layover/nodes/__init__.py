"""Node functions and their registry."""
