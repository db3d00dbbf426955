"""Text work without side effects: cleaning for people, normalisation for comparison.

Nothing here reads a clock, the environment or a locale, opens a file or talks to a server:
the same text always gives the same answer. `docs/text.md` states every rule in plain words.
"""
