"""The few seams between the runtime and what keeps its data, and the records that cross them."""
