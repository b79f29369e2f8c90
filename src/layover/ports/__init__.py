"""The protocols between the runtime and the stores, and the records that cross them."""
