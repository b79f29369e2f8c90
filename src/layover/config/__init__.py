"""The settings of the commands: defaults, then `layover.toml`, then the environment, then flags.

Programs give settings as arguments, and nothing here is asked for them.
"""
