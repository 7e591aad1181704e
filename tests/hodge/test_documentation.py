import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "hodge.md"


def test_the_page_prints_what_it_says() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, PAGE.name, str(PAGE), 0)
    reports: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(examples, out=reports.append)
    assert results.attempted > 20
    assert results.failed == 0, "".join(reports)
