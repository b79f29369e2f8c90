"""What keeps a database, or the executions in it, from working: looked for, and never changed."""
