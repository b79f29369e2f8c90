"""The stores: one package for each kind of database. All of them pass the same conformance tests."""
