"""Batches: one act on many items, done page by page by any instance."""
