"""What instances share besides the store: nothing that matters, so that losing it costs time and never work."""
