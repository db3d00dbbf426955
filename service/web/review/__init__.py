"""The pages for people, under `/review`: made on the server, with as little script as can be."""

from service.web.review.blueprint import blueprint

__all__ = ["blueprint"]
