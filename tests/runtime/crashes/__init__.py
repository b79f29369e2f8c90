"""Processes that really die: at every commit point, at random, stopped past their lease, and beside each other."""
