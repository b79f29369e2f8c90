"""Simulation: several engines, people, clocks and a database with faults, in virtual time, under one seed."""
