"""What crosses the network, by family."""
