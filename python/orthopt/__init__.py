"""Sparse, nonnegative and other PCA whose components are exactly orthogonal.

>>> import orthopt
>>> orthopt.solve("nonneg-pca", "builtin:pitprops", rank=2).feasibility < 1e-12
True

Functions: :func:`explore`, :func:`solve`, :func:`path`, :func:`compare`, :func:`scree`, :func:`certify`, :func:`bound`, :func:`check_proof`, :func:`stability`, :func:`minimize`, :func:`check_gradient`, :func:`check_hessian`; estimators for
scikit-learn: :class:`SparsePCA`, :class:`NonnegativePCA`; facts: :class:`KnowledgeGraph`; rows that do not fit memory:
:class:`GramAccumulator`, :mod:`orthopt.dask`; pictures: :mod:`orthopt.plots`; exceptions:
:mod:`orthopt.errors`.
"""

import importlib
from typing import Any

from . import _logging
from ._orthopt import __version__

#: The public names by the module that has them. Modules are loaded on first use: NumPy, SciPy and scikit-learn are slow to import,
#: and the command needs none of them.
_NAMES = {
    "_bound": ["Bound", "BoundProgress", "BoundTrace", "bound"],
    "_check_proof": ["CheckedProof", "check_proof"],
    "_estimators": ["NonnegativePCA", "SparsePCA"],
    "_explore": ["Exploration", "Step", "explore"],
    "_factor": ["GivensFactor", "HyperbolicQR", "givens_factors", "hyperbolic_qr", "indefinite_polar"],
    "_gradient": ["GradientCheck"],
    "_gram": ["GramAccumulator"],
    "_knowledge": ["Answer", "KnowledgeGraph"],
    "_minimize": ["check_gradient", "check_hessian", "minimize"],
    "_path": ["Path", "path"],
    "_registry": ["constants", "registry"],
    "_reproduce": ["Reproduction", "reproduce"],
    "_solution": ["Arm", "Certificate", "Comparison", "ExplainedVariance", "Scree", "Solution", "Trace"],
    "_solve": ["Findings", "Progress", "certify", "compare", "scree", "solve"],
    "_stability": ["Stability", "stability"],
    "errors": ["OrthoptError", "OrthoptWarning"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_MODULES, "__version__", "errors", "plots"])


def __getattr__(name: str) -> Any:
    """Loads the module of a public name on first use."""
    if name in ("errors", "plots"):
        return importlib.import_module(f".{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    except ImportError as error:
        if _MODULES[name] != "_estimators":
            raise
        raise ImportError(f"{name} needs scikit-learn: pip install 'orthopt[sklearn]'") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
