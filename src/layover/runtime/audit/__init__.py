"""The audit chain: keys that sign it, the maker of seals, its verification, and receipts."""
