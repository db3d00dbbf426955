"""A collection that lies in several partitions; docs/partitions.md tells how and why."""
