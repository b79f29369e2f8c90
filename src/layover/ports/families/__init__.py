"""The families of a store: one small protocol for each group of tables."""
