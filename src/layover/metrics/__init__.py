"""Metrics: what is exported of an instance, as sums that can be added, and as the text that Prometheus reads."""
