"""Traces by OpenTelemetry: one for each leg of an execution, and links between them across every pause."""
