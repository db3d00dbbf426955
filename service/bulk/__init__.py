"""Many texts at once, from files into a service and out of it."""
