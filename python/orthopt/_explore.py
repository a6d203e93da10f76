"""``explore``: the command of the same name."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable

from . import _data, _ending, _html, _orthopt
from ._options import fill
from ._path import Path, walked
from ._solution import Solution, solution
from ._solve import _warn
from ._stability import Stability
from ._tables import opened
from .errors import IncompatibleError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import ExploreOptions

#: Called with the question that is asked; a true value ends the exploration.
ExploreCallback = Callable[[str], Any]


@dataclass(frozen=True)
class Step:
    """A step of :func:`explore`, with the call that repeats it."""

    #: The question that it answers.
    question: str
    #: The call, in Python; ``data`` stands for the data.
    code: str
    #: Seconds it took.
    seconds: float
    #: True if a time limit ended it.
    limited: bool


@dataclass(frozen=True)
class Exploration:
    """How many components and variables, which, how sure, how far from the best: what :func:`explore` returns.

    It prints as text, and as a page with pictures in a notebook.
    """

    #: Each question with its answers.
    answers: list[tuple[str, list[str]]]
    #: Solutions along numbers of variables.
    path: Path
    #: Variables in each component.
    nonzeros: int
    #: The components, with a bound where there was time for one.
    solution: Solution
    #: Largest share of the variance that any components with so many variables can explain; ``None`` without a bound.
    most_possible: float | None
    #: Stability over halves of the rows; ``None`` without rows or time.
    stability: Stability | None
    #: Components with as many variables as halves of the rows agree on; ``None`` where that is all of them, or is not known.
    fewer: Solution | None
    #: The steps, each a call of its own.
    steps: list[Step]
    #: True if it was interrupted.
    interrupted: bool

    def __str__(self) -> str:
        lines: list[str] = []
        for question, answers in self.answers:
            lines.append(f"{question[0].upper()}{question[1:]}?")
            lines.extend(f"  {answer}" for answer in answers)
        lines += ["", str(self.solution), ""]
        if self.fewer is not None:
            lines += ["With as many variables as halves of the rows agree on:", str(self.fewer), ""]
        lines += ["Each step alone:"]
        lines += [f"  {step.code}" for step in self.steps]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Exploration: {self.solution.X.shape[1]} components, {self.nonzeros} variables in each>"

    def _repr_html_(self) -> str:
        parts = []
        for question, answers in self.answers:
            said = "".join(f"<p style='margin:.1em 0'>{html.escape(answer)}.</p>" for answer in answers)
            parts.append(f"<h4 style='margin:.6em 0 .1em'>{html.escape(question[0].upper() + question[1:])}?</h4>{said}")
        parts.append(_html.solution(self.solution))
        if self.fewer is not None:
            parts.append("<h4>With as many variables as halves of the rows agree on</h4>")
            parts.append(_html.solution(self.fewer))
        parts.extend(self._pictures())
        parts.append("<h4>To repeat a step</h4>")
        parts.extend(f"<pre>{html.escape(step.code)}</pre>" for step in self.steps)
        return "\n".join(parts)

    def _pictures(self) -> list[str]:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return []
        figure = Figure(figsize=(6, 3.5), layout="constrained")
        self.path.plot(figure.subplots())
        text = io.StringIO()
        figure.savefig(text, format="svg")
        svg = text.getvalue()
        return [svg[svg.index("<svg") :]]


def explore(
    data: Any,
    rank: int | None = None,
    *,
    callback: ExploreCallback | None = None,
    **options: Unpack[ExploreOptions],
) -> Exploration:
    """From a table to sparse components: how many, how many variables in each, which, how sure, and how far from the best.

    Columns are centred and scaled to standard deviation 1 unless ``scale`` says otherwise. The number of components is
    that of parallel analysis unless ``rank`` is given (5 where data are C itself). The number of variables in
    each component is the knee of the variance along a path, the components are those of ``solve("l0-pca", ...)``, none
    of which repeats another, and a lower bound of F says how much better any others could be.

    Parameters
    ----------
    data, rank
        As for :func:`solve`.
    callback
        Called about ten times a second with the question that is asked; a true value ends the exploration.
    **options
        Those of :func:`solve` that read and prepare data, and ``maximise``, ``seed``, ``threads``, ``time_limit``: seconds
        of all steps together. Without it each step does a fixed amount of work, and the same table has the same answers.

    Returns
    -------
    Exploration
        The answers with the call that repeats each step (``steps``), and the components (``solution``). Ctrl-C ends it with
        the answers so far.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, one class per kind; also a :class:`ValueError` if a value is wrong.

    Examples
    --------
    >>> import orthopt
    >>> found = orthopt.explore("builtin:pitprops", rank=2)
    >>> found.solution.loadings.shape
    (13, 2)
    >>> found.steps[1].code == f"orthopt.solve('l0-pca', data, rank=2, nonzeros={found.nonzeros})"
    True
    """
    given = {key: value for key, value in options.items() if value is not None}
    table, chosen = opened(data), "scale" not in given and "gram" not in given
    try:
        table, found = _explored(table, {"scale": "std", **given} if chosen else given, rank, chosen, callback)
    except IncompatibleError:
        if not chosen:
            raise
        table, found = _explored(table, given, rank, False, callback)  # C itself is not scaled
    names = _data.names(table)
    halves = found.get("stability")
    best = replace(solution(found["solution"], names), **{key: found[key] for key in ("bound", "gap", "proof")})
    _warn(found["solution"].get("notes", []))
    scaled = {} if found["scale"] is None else {"scale": found["scale"]}
    shown = {**scaled, **{key: value for key, value in given.items() if key not in ("time_limit", "threads", "seed", "maximise", "title")}}
    return Exploration(
        answers=found["answers"],
        path=walked(found["path"], names),
        nonzeros=found["count"],
        solution=best,
        most_possible=found["most_possible"],
        stability=None if halves is None else Stability(**halves, X=best.X, solution=best, feature_names=best.feature_names),
        fewer=None if found.get("fewer") is None else solution(found["fewer"], names),
        steps=[Step(question, code(call, stated, shown), seconds, limited) for question, call, stated, seconds, limited in found["steps"]],
        interrupted=found["interrupted"],
    )


def _explored(
    table: Any, given: dict[str, Any], rank: int | None, chosen: bool, callback: ExploreCallback | None
) -> tuple[Any, dict[str, Any]]:
    filled = fill(given, "explore", assumed=["scale"] if chosen else [], rank=rank)
    table = _data.arranged(table, filled)
    with _ending.calls(callback) as (called,):
        return table, _orthopt.explore(_data.matrix(table), filled, called)


def code(call: str, stated: list[tuple[str, str]], shown: dict[str, Any]) -> str:
    """The call in Python."""
    halves = any(name == "stability" for name, _ in stated)
    words = [f"orthopt.{'stability' if halves else call}('l0-pca', data"]
    for name, value in stated:
        name = "n_pairs" if name == "stability" else name
        numbers = value.split(",")
        if all(number.isdigit() for number in numbers):
            words.append(f"{name}={value if len(numbers) == 1 else '[' + ', '.join(numbers) + ']'}")
        else:
            words.append(f"{name}={value!r}")
    words += [f"{name}={value!r}" if isinstance(value, (str, int, float, bool)) else f"{name}=..." for name, value in shown.items()]
    return ", ".join(words) + ")"
