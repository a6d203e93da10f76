"""Sparse, nonnegative and other PCA whose components are exactly orthogonal.

>>> import orthopt
>>> orthopt.solve("nonneg-pca", "builtin:pitprops", rank=2).feasibility < 1e-12
True

Functions: :func:`solve`, :func:`compare`, :func:`certify`, :func:`minimize`; estimators for
scikit-learn: :class:`SparsePCA`, :class:`NonnegativePCA`; pictures: :mod:`orthopt.plots`; what can
go wrong: :mod:`orthopt.errors`.
"""

from . import _logging, errors
from ._minimize import minimize
from ._orthopt import __version__
from ._registry import constants, registry
from ._solution import Certificate, Comparison, ExplainedVariance, Solution, Trace
from ._solve import Findings, Progress, certify, compare, solve
from .errors import OrthoptError, OrthoptWarning

__all__ = [
    "Certificate",
    "Comparison",
    "ExplainedVariance",
    "Findings",
    "OrthoptError",
    "OrthoptWarning",
    "Progress",
    "Solution",
    "Trace",
    "__version__",
    "certify",
    "compare",
    "constants",
    "errors",
    "minimize",
    "registry",
    "solve",
]
