"""Where the truth is kept: one package per kind of database, all alike from outside."""
