"""The pure heart of Layover: no I/O, no clock, no randomness, no logging."""
