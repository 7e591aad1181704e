"""The pages for a browser, from templates; everything they need comes from this server."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import evergraph
from evergraph.report.palette import DARK, LIGHT
from evergraph.serve.answer import classes, columns
from evergraph.serve.limits import Limits
from evergraph.serve.served import Loaded

ASSETS = {"/style.css": "text/css", "/page.js": "text/javascript"}


def main_page(loaded: Loaded, limits: Limits) -> str:
    """The page on which a person gives a graph and sees the predictions."""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            version=evergraph.__version__,
            model=loaded.name,
            classes=classes(loaded),
            batches=loaded.classifier.n_batches_,
            schema=columns(loaded.classifier.schema_),
            remark=loaded.remark,
            limits=limits,
        )
    )


def docs_page(description: dict[str, Any]) -> str:
    """The OpenAPI description as a plain page."""
    schemas = {
        name: json.dumps(schema, indent=2, ensure_ascii=False)
        for name, schema in description["components"]["schemas"].items()
    }
    body = description["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return (
        _environment()
        .get_template("docs.html.j2")
        .render(about=description, schemas=schemas, question=json.dumps(body, indent=2, ensure_ascii=False))
    )


@cache
def asset(path: str) -> str:
    """The content of one of ASSETS: the style is that of the report, with what this page has beside it."""
    if path == "/page.js":
        return files("evergraph.serve").joinpath("page.js").read_text(encoding="utf-8")
    style = [("evergraph.report", "page.css"), ("evergraph.serve", "page.css")]
    texts = [files(package).joinpath(name).read_text(encoding="utf-8") for package, name in style]
    return "\n".join([*texts, _colours()])


def _colours() -> str:
    """A rule for each colour of a class, light and dark."""
    pairs = enumerate(zip(LIGHT, DARK, strict=True))
    return "\n".join(f".k{at} {{ --l: {light}; --d: {dark}; }}" for at, (light, dark) in pairs)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("evergraph.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
