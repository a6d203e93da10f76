"""``check_proof``: the command ``check-proof``."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from . import _data, _orthopt
from ._options import fill
from ._tables import opened

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import BoundOptions


@dataclass(frozen=True)
class CheckedProof:
    """Result of checking a proof file."""

    #: The claim that is proved, in one sentence.
    claim: str
    #: ``"optimal"`` or ``"supports"``, as in :class:`Bound`.
    proof: str | None
    #: F of the X of the file.
    objective: float
    #: No feasible X has an F below this.
    bound: float
    #: ``(objective - bound) / abs(objective)``.
    gap: float | None
    #: No feasible X with nonzeros in other places has an F below this, where that is proved.
    elsewhere: float | None
    #: The program that wrote the file, and its version.
    version: str

    def __str__(self) -> str:
        return self.claim


def check_proof(
    proof: Mapping[str, Any] | str | os.PathLike[str],
    data: Any,
    rank: int | None = None,
    lam: float | None = None,
    **options: Unpack[BoundOptions],
) -> CheckedProof:
    """Checks a proof of ``bound(proof=True)`` or of the command ``bound --proof``.

    Nothing is searched for, and no code is shared with what makes proofs. Problem and preparation of samples are those of the
    file; what is given here has to be the same.

    Parameters
    ----------
    proof
        ``Bound.proof_file``, a path, or the text of a file.
    data
        As for :func:`bound`.
    rank, lam, **options
        What the file has to be a proof of, and how the data are read: those of :func:`bound` of data and problem.

    Returns
    -------
    CheckedProof
        Its text is the claim.

    Raises
    ------
    orthopt.errors.IncompatibleError
        The file proves nothing, or nothing of these data or of this problem; the message gives the reason.

    Examples
    --------
    >>> import orthopt
    >>> b = orthopt.bound("l0-pca", "builtin:pitprops", rank=2, nonzeros=3, proof=True)
    >>> checked = orthopt.check_proof(b.proof_file, "builtin:pitprops")
    >>> checked.proof, checked.bound == b.proof_file["bound"]
    ('supports', True)
    >>> str(checked)[:79]
    "Of all 13 x 2 matrices X with X'X = I, at most 3 nonzeros in each component, th"
    >>> orthopt.check_proof(b.proof_file, "builtin:pitprops", rank=3)
    Traceback (most recent call last):
    ...
    orthopt.errors.IncompatibleError: the file proves nothing here: it is of rank 2, and 3 is asked for
    """
    filled = fill(options, "bound of an X that is given", rank=rank, lam=lam)
    data = _data.matrix(_data.arranged(opened(data), filled))
    return CheckedProof(**_orthopt.check_proof(_text(proof), data, filled))


def _text(proof: Mapping[str, Any] | str | os.PathLike[str]) -> str:
    if isinstance(proof, Mapping):
        return json.dumps(proof)
    if isinstance(proof, str) and proof.lstrip().startswith("{"):
        return proof
    return Path(proof).read_text(encoding="utf-8", errors="replace")
