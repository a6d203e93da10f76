"""The Python reference: every public name has a page, and a docstring with what a reader needs."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import orthopt
import orthopt.dask
import orthopt.scanpy
from orthopt import plots

LIST = Path(__file__).parents[2] / "xtask/site/pages/api/index.rst"
PUBLIC: dict[str, Any] = {name: getattr(orthopt, name) for name in orthopt.__all__}
PUBLIC |= {f"plots.{name}": getattr(plots, name) for name in plots.__all__}
PUBLIC |= {f"dask.{name}": getattr(orthopt.dask, name) for name in orthopt.dask.__all__}
PUBLIC |= {"scanpy.sparse_pca": orthopt.scanpy.sparse_pca}
FUNCTIONS = {name: one for name, one in PUBLIC.items() if inspect.isfunction(one)}
CLASSES = {name: one for name, one in PUBLIC.items() if inspect.isclass(one) and not issubclass(one, BaseException)}


def test_every_name_has_a_page() -> None:
    listed = set(re.findall(r"^   ([\w.]+)$", LIST.read_text(encoding="utf-8"), re.MULTILINE))
    elsewhere = {"__version__", "plots"} | {name for name, one in PUBLIC.items() if inspect.isclass(one) and issubclass(one, BaseException)}
    assert listed == set(PUBLIC) - elsewhere, listed ^ (set(PUBLIC) - elsewhere)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_take_and_return(name: str) -> None:
    told = inspect.getdoc(FUNCTIONS[name]) or ""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert not parameters or "Parameters\n----------" in told
    assert "Returns\n-------" in told
    for parameter in parameters:
        assert re.search(rf"(^|[ ,*]){re.escape(parameter)}\b", told, re.MULTILINE), parameter
    needs_a_cluster_or_a_file = name.startswith(("dask.", "scanpy."))
    assert needs_a_cluster_or_a_file or "Examples\n--------" in told


@pytest.mark.parametrize("name", CLASSES)
def test_members_of_classes_have_docstrings(name: str) -> None:
    one = CLASSES[name]
    assert inspect.getdoc(one)
    for member, value in vars(one).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))):
            assert inspect.getdoc(value), member
    # fields are described by comments that begin with `#:`
    source = inspect.getsource(one)
    for field in getattr(one, "__dataclass_fields__", getattr(one, "_fields", ())):
        assert re.search(rf"#: .*\n    {field}:", source), field
