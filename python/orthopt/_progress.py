"""A progress bar for runs, with tqdm."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator

#: With a limit of seconds alone the bar shows those, and how much is done in one beside them.
BY_SECONDS = "{desc}: {percentage:3.0f}%|{bar}| {n:.1f} of {total:g} s{postfix}"


@contextmanager
def bar_for(wanted: bool, options: dict[str, Any]) -> Iterator[Callable | None]:
    """A function that shows a Progress in a bar, or ``None`` without a bar."""
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'orthopt[progress]'") from error
    given = options["options"]
    iterations, limit = given.get("max_iters"), given.get("time_limit")
    timed = iterations is None and bool(limit)
    total, shape = (limit, BY_SECONDS) if timed else (iterations, None)
    lowest = float("inf")
    with tqdm(total=total, unit=" iterations", unit_scale=True, desc="orthopt", bar_format=shape) as bar:

        def show(now: Any) -> None:
            nonlocal lowest
            lowest = min(lowest, now.objective)
            text = f"best F = {lowest:.9g}, {now.nnz} nonzeros"
            if timed:
                rate = tqdm.format_sizeof(now.iteration / max(now.seconds, 1e-9))
                text += f", {rate} iterations/s"
            bar.set_postfix_str(text, refresh=False)
            bar.update((min(now.seconds, limit) if timed else now.iteration) - bar.n)

        yield show
