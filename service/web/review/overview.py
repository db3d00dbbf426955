"""The state at a glance."""

from __future__ import annotations

from flask import Blueprint, render_template

from service.web.review.guard import Answer, page

blueprint = Blueprint("overview", __name__)


@blueprint.get("")
@page
def show() -> Answer:
    """The page."""
    return render_template("review/overview.html")
