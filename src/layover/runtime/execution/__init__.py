"""One execution in the memory of the instance that drives it, and the appends it makes."""
