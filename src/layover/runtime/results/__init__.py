"""From what the engine knows to what crosses the network."""
