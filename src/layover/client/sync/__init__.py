"""What a client asks, by family, for programs without an event loop; written from `calls`."""
