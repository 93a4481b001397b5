"""Names and values in SQL, quoted so that they parse back unchanged, whatever they contain."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Rational, Real


def name(of: str) -> str:
    """Return a name in double quotes, which keep its capitals.

    >>> print(name('a "b" c'))
    "a ""b"" c"
    """
    if isinstance(of, (list, tuple)):
        raise TypeError("a name is a string, not a list or a tuple; write a * before it, as in quasi(*columns)")
    if not isinstance(of, str):
        raise TypeError(
            f"a name is a string, not {type(of).__name__}; write it in quotes, or frame.columns = frame.columns.map(str)"
        )
    if not of or "\0" in of:
        raise ValueError("a name is empty or contains a NUL character; write a name such as age")
    return '"' + of.replace('"', '""') + '"'


def names(of: Iterable[str]) -> str:
    """Return names with commas between them."""
    if isinstance(of, str):
        raise TypeError(f"names are a list, not a string; write [{of!r}]")
    if not isinstance(of, Iterable):
        raise TypeError(f'names are a list of strings, not {type(of).__name__}; write ["age", "sex"]')
    return ", ".join(name(one) for one in of)


def text(of: str) -> str:
    """Return a string in single quotes.

    >>> text("it's")
    "'it''s'"
    """
    if not isinstance(of, str):
        raise TypeError(f"a string is needed here, not {type(of).__name__}; write str(...)")
    if "\0" in of:
        raise ValueError("a string in a statement cannot contain a NUL character; write it without")
    return "'" + of.replace("'", "''") + "'"


def path(of: str | os.PathLike[str], such: str) -> str:
    """Return a path in single quotes. An error shows ``such`` as an example.

    >>> path("out/people", "out/people/")
    "'out/people'"
    """
    try:
        name = os.fspath(of)
    except TypeError:
        name = None
    if not isinstance(name, str):
        raise TypeError(f'a path is a string or a pathlib.Path, not {type(of).__name__}; write "{such}"')
    return text(name)


def plain(of: object) -> object:
    """Return a NumPy number, a fraction or a decimal as a Python number, and anything else unchanged.

    >>> from fractions import Fraction
    >>> plain(Fraction(1, 4)), plain(Decimal("0.5"))
    (0.25, 0.5)
    """
    kind = type(of)
    if isinstance(of, (bool, int, float)) and kind.__module__ == "builtins":
        return of
    if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):
        return bool(of)
    if isinstance(of, Integral):
        return operator.index(of)
    if isinstance(of, Real):
        # A NumPy float keeps its printed digits: a float32 prints 0.2, but converts to 0.20000000298023224.
        return float(str(of)) if kind.__module__ == "numpy" else float(of)
    if isinstance(of, Decimal):
        return float(of)
    return of


def number(of: object) -> str:
    """Return a number as digits.

    >>> number(1e-07), number(5)
    ('0.0000001', '5')
    """
    if isinstance(of, Decimal) and of.is_finite():
        return format(of, "f")
    of = plain(of)
    if isinstance(of, int):
        return str(int(of))
    if not isinstance(of, float):
        raise TypeError(f"a number is needed here, not {type(of).__name__}; write int(...) or float(...)")
    if not math.isfinite(of):
        raise ValueError("a number in a statement must be finite; write a number such as 5")
    return format(Decimal(repr(of)), "f")


def numbers(of: object, written: str) -> str:
    """Return numbers with commas between them. An error shows ``written`` as an example."""
    if isinstance(of, (str, bytes)) or not isinstance(of, Iterable):
        raise TypeError(f"numbers are a list, not {type(of).__name__}; write {written}")
    return ", ".join(map(number, of))


def value(of: object) -> str:
    """Return a literal.

    >>> value(True), value(0.2), value("peer"), value(date(2020, 1, 31))
    ('true', '0.2', "'peer'", "'2020-01-31'")
    """
    if isinstance(of, Decimal):
        return number(of)
    of = plain(of)
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, (int, float)):
        return number(of)
    if isinstance(of, str):
        return text(of)
    is_moment = isinstance(of, date) or (type(of).__module__, type(of).__name__) == ("numpy", "datetime64")
    if is_moment and of == of:
        return text(of.isoformat() if isinstance(of, date) else str(of))
    if is_moment:
        raise ValueError("NaT is not a date; leave it out")
    raise TypeError(
        f"a value in a statement is a number, a string, a date or a boolean, not {type(of).__name__}; write "
        "str(...), int(...) or float(...)"
    )


def argument(of: object) -> str:
    """Return the argument of a model, in which a fraction stays exact.

    >>> from fractions import Fraction
    >>> argument(Fraction(1, 11)), argument(Fraction(5)), argument(0.1)
    ('1/11', '5', '0.1')
    """
    if isinstance(of, Rational) and not isinstance(of, Integral):
        return number(of.numerator) + (f"/{number(of.denominator)}" if of.denominator != 1 else "")
    return value(of)


def word(of: str, known: Iterable[str]) -> str:
    """Return a keyword in upper case, or fail if it is not known."""
    upper = of.upper() if isinstance(of, str) else of
    if upper not in known:
        raise ValueError(f"this is not a keyword here; write one of: {', '.join(sorted(w.lower() for w in known))}")
    return upper
