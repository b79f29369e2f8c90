"""The loops of an instance: claims, commits, leases, the outbox, signals, purges."""
