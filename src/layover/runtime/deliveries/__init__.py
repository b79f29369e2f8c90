"""Deliveries: from an occasion in the outbox to what people and systems receive."""
