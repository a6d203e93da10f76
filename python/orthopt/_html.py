"""Display of results in a notebook: a summary, the loadings as a table, the course of F as a sparkline."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

#: Rows of a table of loadings; what has smaller weights is counted below it.
ROWS = 30
#: Columns of it.
COLUMNS = 12
#: Size of a sparkline in pixels, and its points.
WIDTH, HEIGHT, POINTS = 180, 32, 90


def solution(s: Any) -> str:
    """The page of a Solution."""
    facts = [
        ("F", f"{s.objective:.9g} = {s.smooth:.9g} (smooth) + {s.nonsmooth:.9g} (penalty)"),
        ("nonzeros", f"{s.nnz} of {s.X.size}"),
        ("feasibility", f"{s.feasibility:.1e}"),
        ("ended", f"{s.status}: {s.message}"),
        ("time", f"{s.seconds:.3g} s, {s.iterations:,} iterations"),
    ]
    if s.bound is not None:
        proved = "proved to be the minimum" if s.proof == "optimal" else f"at most {100 * s.gap:.2g} % above the minimum"
        choice = "; no other choice of variables has a lower F" if s.proof == "supports" else ""
        facts.insert(1, ("bound", f"{s.bound:.9g}, F is {proved}{choice}"))
    lines = "".join(f"<tr><th {LEFT}>{escape(name)}</th><td {LEFT}>{escape(text)}</td></tr>" for name, text in facts)
    title = f"<b>{escape(s.problem)}</b>, {s.rank} components by {escape(s.solver)} {sparkline(s.trace.objective)}"
    return f"<div>{title}<table>{lines}</table>{loadings(s)}</div>"


LEFT = 'style="text-align:left"'


def loadings(s: Any) -> str:
    """The weights, of the variables that have any, those with the largest first."""
    weights = np.asarray(s.X)[:, :COLUMNS]
    largest = np.abs(weights).max(axis=1, initial=0.0)
    owner = np.abs(weights).argmax(axis=1)
    used = np.flatnonzero(largest > 0)
    # by component, and in it by weight
    shown = sorted(used[np.argsort(-largest[used], kind="stable")][:ROWS], key=lambda i: (owner[i], -largest[i]))
    names = s.feature_names or [f"variable {i + 1}" for i in range(len(weights))]
    head = "".join(f"<th>{k + 1}</th>" for k in range(weights.shape[1]))
    body = "".join(
        f"<tr><td {LEFT}>{escape(str(names[i]))}</td>{''.join(map(_cell, weights[i]))}</tr>" for i in shown
    )
    rest = len(used) - len(shown)
    more = [f"{rest} variables with smaller weights"] if rest else []
    more += [f"{s.rank - COLUMNS} components"] if s.rank > COLUMNS else []
    foot = f"<p>and {', '.join(more)} more</p>" if more else ""
    return f"<table><tr><th {LEFT}>component</th>{head}</tr>{body}</table>{foot}"


def _cell(weight: float) -> str:
    """A weight on a background that darkens with its size: blue if positive, orange if negative."""
    if weight == 0:
        return "<td></td>"
    ground = "31,119,180" if weight > 0 else "255,127,14"
    return f'<td style="background:rgba({ground},{min(abs(weight), 1.0) * 0.6:.2f})">{weight:.3f}</td>'


def comparison(found: Any) -> str:
    """The table of a Comparison, the lowest F in bold."""
    best = found.best if len(found) else None
    names = ["solver", "F", "above best", "nonzeros", "feasibility", "seconds", "status", "course of F"]
    head = "".join(f"<th>{name}</th>" for name in names)
    body = ""
    for s in found:
        cells = [
            escape(s.solver),
            f"{s.objective:.9g}",
            f"{s.objective - best.objective:.2e}",
            f"{s.nnz}",
            f"{s.feasibility:.1e}",
            f"{s.seconds:.3f}",
            escape(s.status),
            sparkline(s.trace.objective),
        ]
        bold = ' style="font-weight:bold"' if s is best else ""
        body += f"<tr{bold}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    return f"<table><tr>{head}</tr>{body}</table>"


def sparkline(objective: Any) -> str:
    """F point by point, without axes; empty if it has fewer than two finite points."""
    values = np.asarray(objective, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return ""
    values = values[np.linspace(0, len(values) - 1, min(len(values), POINTS)).astype(int)]
    low, high = values.min(), values.max()
    x = np.linspace(1, WIDTH - 1, len(values))
    y = 1 + (HEIGHT - 2) * (high - values) / ((high - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="course of F from {values[0]:.6g} to '
        f'{values[-1]:.6g}"><polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )
