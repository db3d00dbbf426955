"""Thresholds: what each would do to labelled pairs."""

from __future__ import annotations

from flask import Blueprint, render_template

from service.web.review.guard import Answer, page

blueprint = Blueprint("thresholds", __name__)


@blueprint.get("/thresholds")
@page
def show() -> Answer:
    """The page."""
    return render_template("review/thresholds.html")
