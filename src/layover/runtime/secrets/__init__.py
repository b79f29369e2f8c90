"""The secrets of an engine: which workflow may have which, their current values, and where those go."""
