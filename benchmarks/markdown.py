"""Markdown that reports are made of."""

from __future__ import annotations

from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    r"""A table; the first ``left`` columns are set left, the others right.

    >>> print(table(["who", "what"], [["a|b", "1"]]))
    | who | what |
    | --- | ---: |
    | a\|b | 1 |
    """
    rule = ["---"] * left + ["---:"] * (len(columns) - left)
    lines = [columns, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def between(text: str, begin: str, end: str) -> tuple[str, str, str]:
    """What stands before, between and after two marks, the marks left out.

    Raises
    ------
    ValueError
        Unless each mark stands in the text once, in this order.
    """
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"expected the marks {begin} and {end}, once each and in this order")
    before, _, rest = text.partition(begin)
    inside, _, after = rest.partition(end)
    return before, inside, after
