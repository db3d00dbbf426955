"""Conflicts: the queue, and one conflict."""

from __future__ import annotations

from flask import Blueprint, render_template

from service.web.review.guard import Answer, page

blueprint = Blueprint("conflicts", __name__)


@blueprint.get("/conflicts")
@page
def show() -> Answer:
    """The page."""
    return render_template("review/conflicts.html")
