"""Simulated runs of the engine, and what they are to find."""
