"""What the alerts and the dashboard ask for, and what the service tells, by the same names.

`python -m tests.deploy.watched` prints the dashboard's queries as rules, for promtool.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import yaml

from tests.deploy.own_store import DEPLOY

OF_PROMETHEUS = {"job", "instance"}
"""Labels that Prometheus adds to whatever it scrapes."""
_SELECTOR = re.compile(r"\b(twinsift_\w+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? \S+$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="')


class Query(NamedTuple):
    """A query in PromQL, and where it stands."""

    where: str
    expr: str


def of_dashboard() -> Iterator[Query]:
    """Every query of the dashboard, the interval that Grafana puts in put in."""
    dashboard = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield Query(panel["title"], target["expr"].replace("$__rate_interval", "5m"))


def rules() -> list[dict[str, Any]]:
    """Every rule of alerts.yml, those that record too."""
    written = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())
    return [rule for group in written["groups"] for rule in group["rules"]]


def of_alerts() -> Iterator[Query]:
    """Every query of the rules."""
    for rule in rules():
        yield Query(rule.get("alert") or rule["record"], rule["expr"])


def told(exposition: str) -> dict[str, set[str]]:
    """Each series of a scrape, with all labels that any of its samples has."""
    found: dict[str, set[str]] = {}
    for name, labels in _SAMPLE.findall(exposition):
        found.setdefault(name, set()).update(_LABEL.findall(labels))
    return found


def unknown(query: Query, series: dict[str, set[str]]) -> list[str]:
    """What a query names and the service does not tell, in words."""
    wrong, labels = [], set(OF_PROMETHEUS)
    for name, matchers in _SELECTOR.findall(query.expr):
        if name not in series:
            wrong.append(f"no series {name}")
            continue
        labels |= series[name]
        asked = set(_MATCHER.findall(matchers)) - series[name] - OF_PROMETHEUS
        wrong += [f"{name} has no label {label}" for label in sorted(asked)]
    grouped = {
        label.strip() for inside in _GROUPING.findall(query.expr) for label in inside.split(",")
    }
    wrong += [f"nothing here has the label {label}" for label in sorted(grouped - labels - {""})]
    return wrong


def as_rules(queries: Iterable[Query]) -> str:
    """Queries as a file of rules that record them."""
    recorded = [
        {"record": f"dashboard:{number}", "expr": query.expr}
        for number, query in enumerate(queries)
    ]
    return json.dumps({"groups": [{"name": "dashboard", "rules": recorded}]})


if __name__ == "__main__":
    sys.stdout.write(as_rules(of_dashboard()))
