"""Faults from outside, judged by what really happened: see `tools/chaos.py`."""
