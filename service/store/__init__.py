"""The index: what it promises (`base`), and how Redis or Valkey keeps it."""
