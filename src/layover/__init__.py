"""Layover: durable workflows whose first-class act is the pause."""
