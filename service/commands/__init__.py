"""The commands of `twinsift`, one file each: what it takes (`add`) and what it does (`run`).

A command's `run` is given what was chosen and the environment, and gives the exit status. What only
it needs is imported in it: `twinsift serve` stays small.
"""
