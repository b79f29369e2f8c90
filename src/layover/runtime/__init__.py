"""What makes executions go: claims and leases, group commits, calls, timers."""
