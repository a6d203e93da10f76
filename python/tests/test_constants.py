"""Constants of solvers and penalties: every one is a keyword with a type and a range."""

import numpy as np
import orthopt
import pytest
from orthopt.errors import InvalidOptionError, OrthoptError, UnknownNameError

CONSTANTS = orthopt.constants()
L1_SOLVERS = ("manpg", "manpg-ada", "irpg", "amanpg", "slpg", "rsubgrad", "ladmm", "spm", "soc", "oadmm", "radmm")
TYPES = {"float": float, "int": int, "bool": bool, "str": str}


def solve(solver="auto", **options):
    return orthopt.solve("l1-pca", "builtin:pitprops", rank=2, lam=0.3, solver=solver, max_iters=2, **options)


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_constant_says_what_it_is(name):
    constant = CONSTANTS[name]
    assert constant.doc and constant.range and constant.owner.replace("-", "_") in name
    assert constant.default is None or type(constant.default) is TYPES[constant.type]
    wrong = 2 if constant.type == "bool" else float("nan")
    with pytest.raises(InvalidOptionError) as error:
        solve(**{name: wrong})
    assert f"expected {constant.range}" in str(error.value)


@pytest.mark.parametrize("name", [n for n, c in CONSTANTS.items() if c.owner in L1_SOLVERS])
def test_defaults_may_be_given(name):
    constant = CONSTANTS[name]
    plain = solve(constant.owner)
    assert np.array_equal(solve(constant.owner, **{name: constant.default}).X, plain.X)


def test_types_of_python():
    assert solve("irpg", irpg_memory=np.int64(5)).settings["memory"] == 5
    assert solve("irpg", irpg_memory=5.0).settings["memory"] == 5
    assert solve("manpg", manpg_t="auto").settings["t"] == solve("manpg").settings["t"]
    assert solve("oadmm-rr", oadmm_rr_qr=np.True_).settings["qr"] is True
    for wrong in (5.5, "many", -1):
        with pytest.raises(InvalidOptionError, match="a whole number from 1 to 1000"):
            solve("irpg", irpg_memory=wrong)
    with pytest.raises(InvalidOptionError, match="irpg_memory"):
        solve("irpg", irpg_memory=[5])


def test_what_does_not_exist_or_does_nothing_is_refused():
    with pytest.raises(UnknownNameError, match="manpg-tt"):
        solve("manpg", manpg_tt=1)
    with pytest.raises(UnknownNameError, match="no option .ranc."):
        solve(ranc=1)
    with pytest.raises(OrthoptError, match="manpg-t is a constant of the solver manpg"):
        solve("obcd", manpg_t=1)
    with pytest.raises(OrthoptError, match="mcp-gamma is a constant of the penalty mcp"):
        solve("obcd", mcp_gamma=1)
    runs = orthopt.compare(
        "l1-pca", "builtin:pitprops", solvers=["manpg", "irpg"], rank=2, lam=0.3, max_iters=2, manpg_t=0.125
    )
    assert runs[0].settings["t"] == 0.125
