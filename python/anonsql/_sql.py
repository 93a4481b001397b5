"""How names and values stand in SQL, so that they are read back the same, whatever they contain."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal


def name(of: str) -> str:
    """Return a name in double quotes: it is read as it is, in capitals too.

    >>> print(name('a "b" c'))
    "a ""b"" c"
    """
    if not isinstance(of, str):
        raise TypeError(f"a name is a text, and {type(of).__name__} is none; write frame.columns = frame.columns.map(str)")
    if not of or "\0" in of:
        raise ValueError("a name has at least one character, and no NUL")
    return '"' + of.replace('"', '""') + '"'


def names(of: Iterable[str]) -> str:
    """Return names with commas between them."""
    if isinstance(of, str):
        raise TypeError(f"names are a list, and not a text; write [{of!r}]")
    return ", ".join(name(one) for one in of)


def text(of: str) -> str:
    """Return a text in single quotes.

    >>> text("it's")
    "'it''s'"
    """
    if "\0" in of:
        raise ValueError("a text in a statement has no NUL")
    return "'" + of.replace("'", "''") + "'"


def number(of: float) -> str:
    """Return a number as digits.

    >>> number(1e-07), number(5)
    ('0.0000001', '5')
    """
    if isinstance(of, int):
        return str(int(of))
    if not math.isfinite(of):
        raise ValueError("a number in a statement is finite")
    return format(Decimal(repr(float(of))), "f")


def value(of: object) -> str:
    """Return a literal.

    >>> value(True), value(0.2), value("peer"), value(date(2020, 1, 31))
    ('true', '0.2', "'peer'", "'2020-01-31'")
    """
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, (int, float)):
        return number(of)
    if isinstance(of, Decimal):
        return format(of, "f")
    if isinstance(of, (date, datetime)):
        return text(of.isoformat())
    if isinstance(of, str):
        return text(of)
    raise TypeError(f"a value in a statement is a number, a text, a date or a boolean, and {type(of).__name__} is none")


def word(of: str, known: Iterable[str]) -> str:
    """Return a keyword that is one of those known, in upper case."""
    upper = of.upper()
    if upper not in known:
        raise ValueError(f"this is one of: {', '.join(sorted(w.lower() for w in known))}")
    return upper
