"""Fills a service with texts to look at: `make demo`."""
