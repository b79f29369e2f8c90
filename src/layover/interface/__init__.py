"""The public interface, written once: the door and its handles, on whatever backend does the work."""
