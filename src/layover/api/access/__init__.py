"""Who a caller is: keys and tokens, and what they permit."""
