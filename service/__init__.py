"""twinsift: tells an ingestion worker whether a text is new, or a duplicate of a known one."""

__version__ = "0.1.0"
"""The one place that knows the version; the package's metadata is built from it."""
