"""What callers ask an engine about: executions, nodes, graphs, logs, and why one waits."""
