"""Sparse, nonnegative and other PCA whose components are exactly orthogonal.

>>> import orthopt
>>> orthopt.solve("nonneg-pca", "builtin:pitprops", rank=2).feasibility < 1e-12
True

Functions: :func:`explore`, :func:`solve`, :func:`path`, :func:`compare`, :func:`scree`, :func:`certify`, :func:`bound`, :func:`check_proof`, :func:`stability`, :func:`minimize`, :func:`check_gradient`, :func:`check_hessian`; estimators for
scikit-learn: :class:`SparsePCA`, :class:`NonnegativePCA`; facts: :class:`KnowledgeGraph`; rows that do not fit memory:
:class:`GramAccumulator`, :mod:`orthopt.dask`; pictures: :mod:`orthopt.plots`; exceptions:
:mod:`orthopt.errors`.
"""

from typing import Any

from . import _logging, errors, plots
from ._bound import Bound, BoundProgress, BoundTrace, bound
from ._check_proof import CheckedProof, check_proof
from ._explore import Exploration, Step, explore
from ._factor import GivensFactor, HyperbolicQR, givens_factors, hyperbolic_qr, indefinite_polar
from ._gram import GramAccumulator
from ._knowledge import Answer, KnowledgeGraph
from ._gradient import GradientCheck
from ._minimize import check_gradient, check_hessian, minimize
from ._orthopt import __version__
from ._path import Path, path
from ._registry import constants, registry
from ._reproduce import Reproduction, reproduce
from ._solution import Arm, Certificate, Comparison, ExplainedVariance, Scree, Solution, Trace
from ._solve import Findings, Progress, certify, compare, scree, solve
from ._stability import Stability, stability
from .errors import OrthoptError, OrthoptWarning

__all__ = [
    "NonnegativePCA",
    "SparsePCA",
    "Answer",
    "Arm",
    "Bound",
    "BoundProgress",
    "BoundTrace",
    "Certificate",
    "CheckedProof",
    "Comparison",
    "Exploration",
    "ExplainedVariance",
    "Findings",
    "GivensFactor",
    "GradientCheck",
    "GramAccumulator",
    "HyperbolicQR",
    "KnowledgeGraph",
    "OrthoptError",
    "OrthoptWarning",
    "Path",
    "Progress",
    "Reproduction",
    "Scree",
    "Solution",
    "Stability",
    "Step",
    "Trace",
    "__version__",
    "bound",
    "certify",
    "check_gradient",
    "check_hessian",
    "check_proof",
    "compare",
    "constants",
    "errors",
    "explore",
    "givens_factors",
    "hyperbolic_qr",
    "indefinite_polar",
    "minimize",
    "path",
    "plots",
    "registry",
    "reproduce",
    "scree",
    "solve",
    "stability",
]


def __getattr__(name: str) -> Any:
    """Loads estimators on first use: scikit-learn is optional and slow to import."""
    if name in ("SparsePCA", "NonnegativePCA"):
        try:
            from . import _estimators
        except ImportError as error:
            raise ImportError(f"{name} needs scikit-learn: pip install 'orthopt[sklearn]'") from error
        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
