"""Errors of the input, one exception for each kind.

All are :class:`OrthoptError`; those that are about values are :class:`ValueError` too, and those
about files are :class:`OSError`. A run that stalls, or an objective without a lower bound, is
not an error but a ``Solution.status``.
"""


class OrthoptError(Exception):
    """Base class of all errors of this package."""


class InvalidOptionError(OrthoptError, ValueError):
    """An option outside its range."""


class RankError(OrthoptError, ValueError):
    """A rank of zero, or larger than the number of variables."""


class ShapeError(OrthoptError, ValueError):
    """Two shapes that must agree but do not."""


class NotOrthonormalError(OrthoptError, ValueError):
    """A matrix that must have orthonormal columns does not."""


class NotJOrthogonalError(OrthoptError, ValueError):
    """A matrix that must satisfy X'JX = J does not."""


class NotDefiniteError(OrthoptError, ValueError):
    """A matrix that must be positive definite is not."""


class NegativeError(OrthoptError, ValueError):
    """A matrix that must be nonnegative is not."""


class NotFiniteError(OrthoptError, ValueError):
    """NaN or infinity where a number is needed."""


class NotSymmetricError(OrthoptError, ValueError):
    """A matrix that must be symmetric is not."""


class UnknownNameError(OrthoptError, ValueError):
    """A problem, solver, penalty, ... that does not exist."""


class DataOverflowError(OrthoptError, ValueError):
    """Data so large that C = A'A is not finite."""


class DataUnderflowError(OrthoptError, ValueError):
    """Data so small that C = A'A has too few digits, or none."""


class ContradictionError(OrthoptError, ArithmeticError):
    """F of a feasible X lies below a proved lower bound: one of the two is wrong."""


class IncompatibleError(OrthoptError, ValueError):
    """Two incompatible choices."""


class FactorisationError(OrthoptError, ArithmeticError):
    """An eigenvalue or orthogonalisation routine failed."""


class GradientError(OrthoptError, ValueError):
    """The gradient that a function returned is not that of the function."""


class HessianError(OrthoptError, ValueError):
    """A product with the Hessian of a function is wrong."""


class DataTypeError(OrthoptError, TypeError):
    """Data that are not a matrix of real numbers."""


class EmptyDataError(OrthoptError, ValueError):
    """Data without rows or without columns."""


class DataTooLargeError(OrthoptError, ValueError):
    """Data too large for this machine or for any reasonable use."""


class DataSpecError(OrthoptError, ValueError):
    """A specification such as ``randn:50:8`` that cannot be understood."""


class UnknownFormatError(OrthoptError, ValueError):
    """The extension of a file belongs to no format."""


class DataFileError(OrthoptError, ValueError):
    """Something is wrong in a data file; the message names the line."""


class DataIOError(OrthoptError, OSError):
    """The operating system refused to read or write."""


class DataNotFoundError(OrthoptError, FileNotFoundError):
    """There is no file, generator or table of this name."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C with ``on_interrupt="raise"``; ``result`` is the result so far. Like every
    :class:`KeyboardInterrupt` it ends a loop that catches :class:`Exception`."""

    def __init__(self, result: object):
        super().__init__("interrupted; .result has the best point so far")
        #: A :class:`orthopt.Solution`, a :class:`orthopt.Comparison`, a fitted estimator.
        self.result = result


class OrthoptWarning(UserWarning):
    """A given option has no effect."""
