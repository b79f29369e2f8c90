"""Many clients of a server that runs as a process of its own; `tools/load.py` and `tools/streams.py` run it long."""
