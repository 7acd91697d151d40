"""The report as HTML: one page of metrics that needs no script, and the shell of the page of responses."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from udfs.report.grid import Report


def _template(name: str) -> str:
    return files("udfs.report").joinpath("templates", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def metrics_page(report: Report, responses_page: str | None) -> str:
    """The page of metrics, self-contained; `responses_page` is the address that its rows link to, or None."""
    return (
        _environment()
        .get_template("index.html.j2")
        .render(report=report, style=Markup(_template("style.css")), responses_page=responses_page)
    )


def viewer_page(report: Report, note: str) -> str:
    """The page that shows responses one by one; its data are scripts beside it (`udfs.report.viewer`)."""
    return (
        _environment()
        .get_template("responses.html.j2")
        .render(
            report=report,
            note=note,
            style=Markup(_template("style.css") + _template("viewer.css")),
            script=Markup(_template("viewer.js")),
        )
    )
