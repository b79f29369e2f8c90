"""Calls of node functions: slots, threads and workers."""
