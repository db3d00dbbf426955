"""Try it: what a check would answer, with nothing stored."""

from __future__ import annotations

from flask import Blueprint, render_template

from service.web.review.guard import Answer, page

blueprint = Blueprint("trying", __name__)


@blueprint.get("/try")
@page
def show() -> Answer:
    """The page."""
    return render_template("review/trying.html")
