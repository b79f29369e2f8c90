"""What a client asks, by family. `blocking` is written from these by tools/blocking_calls.py."""
