"""The concurrency protocol as an executable specification.

Read `rules.py` first (what is promised and by which rules), then `tables.py` (the statements), `workflow.py` (what is
decided), `driving.py` (what an instance does) and `world.py` (everybody else). `search.py` tries every interleaving.
"""
