"""A bar for runs, if tqdm is there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator


@contextmanager
def bar_for(wanted: bool, options: dict[str, Any]) -> Iterator[Callable | None]:
    """A function that shows a Progress in a bar, or ``None`` if no bar is wanted."""
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'orthopt[progress]'") from error
    limit = options["max_iters"]
    with tqdm(total=limit, unit="it", unit_scale=True, desc="orthopt") as bar:

        def show(now: Any) -> None:
            bar.update(now.iteration - bar.n)
            bar.set_postfix_str(f"F = {now.objective:.9g}, nnz = {now.nnz}")

        yield show
