"""Workflows written in Python: a builder that says the same as YAML does, and has the same hash."""
