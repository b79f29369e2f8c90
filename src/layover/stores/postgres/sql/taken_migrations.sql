SELECT number, checksum, compatible FROM layover.migrations ORDER BY number
