"""Checks and copies of a whole database."""
