"""Events of the library go to the logger ``orthopt``."""

import logging

from . import _orthopt

logger = logging.getLogger("orthopt")
logger.addHandler(logging.NullHandler())
_orthopt.install_logging(logger)
