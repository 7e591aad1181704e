"""HTML that is escaped by construction: text becomes markup only through `el`."""

import html
from collections.abc import Iterable
from typing import TypeAlias

Attribute: TypeAlias = str | int | float | bool | None

VOID = {"meta", "br", "col"}


class Html(str):
    """Markup that is safe to put into a page as it stands."""

    __slots__ = ()


Child: TypeAlias = str | Iterable[str]
"""Text, markup, or several of them."""


def text(value: str) -> Html:
    """A string as text of a page; markup stays markup."""
    return value if isinstance(value, Html) else Html(html.escape(value))


def join(*children: Child) -> Html:
    """Several pieces one after the other, each escaped unless it is markup."""
    return Html("".join(text(child) if isinstance(child, str) else join(*child) for child in children))


def el(element: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element; `class_` and `aria_label` stand for class and aria-label; None and False leave one out."""
    words = [element]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = name.rstrip("_").replace("_", "-")
        words.append(shown if value is True else f'{shown}="{html.escape(str(value))}"')
    start = f"<{' '.join(words)}>"
    return Html(start if element in VOID else f"{start}{join(*children)}</{element}>")
