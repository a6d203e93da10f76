from . import errors as errors
from . import plots as plots
from ._bound import Bound as Bound
from ._bound import BoundProgress as BoundProgress
from ._bound import BoundTrace as BoundTrace
from ._bound import bound as bound
from ._estimators import NonnegativePCA as NonnegativePCA
from ._estimators import SparsePCA as SparsePCA
from ._explore import Exploration as Exploration
from ._explore import Step as Step
from ._explore import explore as explore
from ._gram import GramAccumulator as GramAccumulator
from ._knowledge import Answer as Answer
from ._knowledge import KnowledgeGraph as KnowledgeGraph
from ._gradient import GradientCheck as GradientCheck
from ._minimize import check_gradient as check_gradient, minimize as minimize
from ._path import Path as Path
from ._path import path as path
from ._registry import constants as constants
from ._registry import registry as registry
from ._solution import Certificate as Certificate
from ._solution import Comparison as Comparison
from ._solution import ExplainedVariance as ExplainedVariance
from ._solution import Scree as Scree
from ._solution import Solution as Solution
from ._solution import Trace as Trace
from ._solve import Findings as Findings
from ._solve import Progress as Progress
from ._solve import certify as certify
from ._solve import compare as compare
from ._solve import scree as scree
from ._solve import solve as solve
from ._stability import Stability as Stability
from ._stability import stability as stability
from .errors import OrthoptError as OrthoptError
from .errors import OrthoptWarning as OrthoptWarning

__version__: str
