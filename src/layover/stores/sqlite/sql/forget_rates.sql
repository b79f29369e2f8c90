DELETE FROM rates WHERE used_until <= :now
