"""Workflows written in Python: a builder for the same definitions as YAML, with the same hash."""
