"""What callers ask an engine to do: start, answer, signal, pause, cancel, retry, register."""
