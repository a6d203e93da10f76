"""``reproduce``: the command ``reproduce``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from .errors import InvalidOptionError, OrthoptError


@dataclass(frozen=True)
class Reproduction:
    """Tables of the papers, made here."""

    #: The tables as text, with the papers' numbers below ours, and remarks.
    text: str
    #: One dictionary for each method and cell: ``item``, ``dataset``, ``method``, ``objective``, ``curve`` and others.
    records: list[dict[str, Any]]

    def __str__(self) -> str:
        return self.text


def reproduce(
    *items: str,
    data_dir: str | os.PathLike[str] | None = None,
    datasets: Sequence[str] | None = None,
    ranks: Sequence[int] | None = None,
    lambdas: Sequence[float] | None = None,
    signatures: Sequence[float] | None = None,
    methods: Sequence[str] | None = None,
    time_limit: float | str | Sequence[float] | None = None,
    max_iters: int | None = None,
    threads: int | None = None,
    bound: float | None = None,
    out: str | os.PathLike[str] | None = None,
    again: bool = False,
) -> Reproduction:
    """The tables and figures of the papers, next to the papers' numbers.

    The command ``orthopt reproduce`` in a process of its own.

    Parameters
    ----------
    *items
        Names as in ``reproduce("list")``, which says what there is and which data sets are available; ``"all"`` for every item.
    data_dir
        The folder with the papers' data sets. Default: the environment variable ``ORTHOPT_DATA``.
    datasets, ranks, lambdas, signatures, methods
        Only these. Default: all of the item.
    time_limit
        Seconds for each method, several of them, or ``"paper"``. Default: the shortest limit of the paper.
    max_iters, threads, bound, again
        As ``--max-iters``, ``--threads``, ``--bound`` and ``--again``.
    out
        Folder for records and pages, where a later run finds what is finished. Default: none is kept.

    Returns
    -------
    Reproduction
        Its text has the tables.

    Examples
    --------
    >>> import orthopt
    >>> found = orthopt.reproduce("obcd/table5", datasets=["randn"], ranks=[20], methods=["OBCD-R"], max_iters=20)
    >>> found.records[0]["method"], "paper" in found.text
    ('OBCD-R', True)
    """
    if not items:
        raise InvalidOptionError('reproduce needs the names of items: reproduce("list") has them')
    words = list(items)
    lists = {"datasets": datasets, "ranks": ranks, "lambdas": lambdas, "signatures": signatures, "methods": methods}
    if time_limit is not None:
        lists["time-limit"] = [time_limit] if isinstance(time_limit, (int, float, str)) else time_limit
    for name, values in lists.items():
        if values is not None:
            words += [f"--{name}", ",".join(map(str, values))]
    for name, value in {"data-dir": data_dir, "max-iters": max_iters, "threads": threads, "bound": bound}.items():
        if value is not None:
            words += [f"--{name}", os.fspath(value) if name == "data-dir" else str(value)]
    if again:
        words.append("--again")
    if items == ("list",):
        return Reproduction(_command(words), [])
    with tempfile.TemporaryDirectory() as kept_no_longer:
        folder = Path(kept_no_longer if out is None else out)
        text = _command([*words, "--out", str(folder), "--quiet"])
        files = [folder / f"{item.replace('/', '-')}.json" for item in items]
        if "all" in items:
            files = sorted(folder.glob("*.json"))
        return Reproduction(text, [record for file in files if file.exists() for record in json.loads(file.read_text("utf-8"))])


def _command(words: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "orthopt", "reproduce", *words], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode == 2:
        raise InvalidOptionError(done.stderr.strip())
    if done.returncode != 0:
        raise OrthoptError(done.stderr.strip())
    return done.stdout
