"""The engine: commands become events, events become state. No I/O, no clock, no randomness."""
