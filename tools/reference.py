"""Write docs/reference from the code: commands, settings, the Python interface, records.

python tools/reference.py            # write the pages
python tools/reference.py --check    # exit with 1 where they differ from the code
"""

import sys
from pathlib import Path

from reference_pages import api, commands, record, settings

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
PAGES = {
    "commands.md": commands.page,
    "settings.md": settings.page,
    "api.md": api.page,
    "record.md": record.page,
}


def main() -> int:
    made = {FOLDER / name: page() for name, page in PAGES.items()}
    if "--check" in sys.argv[1:]:
        return int(
            any(not path.exists() or path.read_text(encoding="utf-8") != text for path, text in made.items())
        )
    FOLDER.mkdir(exist_ok=True)
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
