"""What a server does for the door, by family: each method is one kind of request."""
