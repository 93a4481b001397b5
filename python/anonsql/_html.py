"""HTML for notebooks: the figures of a release, a risk or a Pareto front, and never a row of a table."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._values import Check, Release, Rows, Verification

RISK = ["section", "subject", "measure", "value", "note"]
#: The three attackers of RISK OF, each with the rest of a sentence that describes it.
ATTACKERS = {
    "prosecutor": "knows that a person is in the table",
    "journalist": "knows a population that contains the table",
    "marketer": "tries everyone",
}
_CELL = ' style="text-align:left"'
_FRAME = ' style="width:100%;height:32em;border:1px solid #bbb"'
#: The longest report, in characters, that is embedded in a notebook.
_MOST = 1 << 20


def release(of: Release) -> str:
    """Return the figures of a release, and its report in a frame that scrolls."""
    figures = [
        ("outcome", of.outcome),
        ("target", of.target),
        ("k", of.k),
        ("rows", of.rows),
        ("suppressed rows", of.suppressed),
        ("classes", of.classes),
        ("search", of.search),
        ("waiting rows", of.waiting),
        *of.metrics.items(),
        ("warnings", ", ".join(sorted({name for warned in of.warnings if not warned.accepted for name in warned.columns})) or None),
    ]
    known: list[tuple[str, object]] = [(name, value) for name, value in figures if value is not None]
    return _table(("release", ""), known) + (checks(of.checks) if of.checks else "") + _report(of.report)


def _report(path: str | None) -> str:
    """Return a report in a frame that scrolls; empty unless it is an HTML file, which has no values of the table."""
    if path is None or not path.lower().endswith((".html", ".htm")):
        return ""
    try:
        with open(path, encoding="utf-8") as file:
            page = file.read(_MOST + 1)
    except (OSError, UnicodeError):
        return ""
    if len(page) > _MOST:
        return ""
    # No script runs in this sandbox. Some browsers do not show the frame unless it has the origin of the page.
    return f'<iframe sandbox="allow-same-origin" title="the report of the release" srcdoc="{escape(page)}"{_FRAME}></iframe>'


def checks(of: Iterable[Check]) -> str:
    """Return a table of checks with their required and reached values."""
    rows = [(one.check, one.required, one.reached, "holds" if one.ok else "does not hold") for one in of]
    return _table(("check", "required", "reached", ""), rows)


def verification(of: Verification) -> str:
    """Return the checks of a VERIFY, and everything that it could not check."""
    left = [f"not checked: {what}" for what in of.unchecked] + [f"undecided: {one.check}" for one in of.undecided]
    return checks(of.checks) + "".join(f"<p>{escape(line)}</p>" for line in left)


def rows(of: Rows, picture: bytes | None) -> str | None:
    """Return the HTML for rows; None if they may be rows of a table."""
    if of.release is not None:
        return release(of.release)
    if picture is not None:
        source = f"data:image/svg+xml;base64,{base64.b64encode(picture).decode('ascii')}"
        return f'<img alt="the front" src="{source}"/>'
    return risk(of) if of.columns == RISK else None


def risk(of: Rows) -> str | None:
    """Return the figures of the three attackers of RISK OF; None without pyarrow, or if there are none."""
    try:
        measured: list[dict[str, Any]] = of.to_arrow().to_pylist()
    except ImportError:
        return None
    found = [row for row in measured if row["section"] in ATTACKERS]
    if not found:
        return None
    table = _table(
        ("attacker", "measure", "value", "note"),
        [(row["section"], row["measure"], row["value"], row["note"]) for row in found],
    )
    return table + "".join(f"<p>The {who} {knows}.</p>" for who, knows in ATTACKERS.items())


def _table(head: Sequence[str], of: Iterable[Sequence[object]]) -> str:
    names = "".join(f"<th{_CELL}>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td{_CELL}>{_shown(value)}</td>' for value in row)}</tr>" for row in of)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _shown(of: object) -> str:
    if of is None:
        return ""
    return escape(f"{of:.6g}" if isinstance(of, float) else str(of))
