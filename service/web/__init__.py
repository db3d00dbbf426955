"""HTTP: a view loads the request, makes one call of a use case, and dumps the answer."""
