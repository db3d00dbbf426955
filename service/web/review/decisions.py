"""Decisions: search them, look at one, take it back."""

from __future__ import annotations

from flask import Blueprint, render_template

from service.web.review.guard import Answer, page

blueprint = Blueprint("decisions", __name__)


@blueprint.get("/decisions")
@page
def show() -> Answer:
    """The page."""
    return render_template("review/decisions.html")
