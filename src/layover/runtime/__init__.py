"""Runs executions: claims and leases, group commits, calls, timers."""
