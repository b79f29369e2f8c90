"""Triggers: rows that any instance serves, and the inputs that become executions."""
