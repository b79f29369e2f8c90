"""What nodes do when they are called: one registry of functions."""
