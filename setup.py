"""What pyproject.toml cannot say: on a package index, links and pictures of the description need full addresses."""

import os
import re
from pathlib import Path

from setuptools import setup

LINK = re.compile(r"(!?)\[([^][]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def with_addresses(text: str, repository: str | None) -> str:
    """The text with links into `repository`; without one, links are their words and pictures are left out."""

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        if repository is None:
            return "" if picture else words
        return f"{picture}[{words}]({repository.rstrip('/')}/{'raw' if picture else 'blob'}/HEAD/{target})"

    return LINK.sub(link, text)


if __name__ == "__main__":
    readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    setup(
        long_description=with_addresses(readme, os.environ.get("EVERGRAPH_REPOSITORY") or None),
        long_description_content_type="text/markdown",
    )
