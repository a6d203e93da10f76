"""Files of other programs: the two lines that a message gives are run, and what they write is the table."""

import os
import re
import shutil
import subprocess
import sys
import tarfile

import numpy as np
import pytest

import orthopt
from orthopt.errors import OrthoptError

pd = pytest.importorskip("pandas")

CLI = os.environ.get("ORTHOPT_CLI")
RNG = np.random.default_rng(8)
TABLE = pd.DataFrame({"age": RNG.integers(18, 80, 30), "income": RNG.normal(30, 5, 30).round(1), "agree": RNG.integers(1, 6, 30)})
WORDS = {value: f"answer {value}" for value in range(1, 6)}


def spss(path):
    pyreadstat = pytest.importorskip("pyreadstat")
    # codes with words for them, of which the codes are wanted, and an empty cell
    pyreadstat.write_sav(with_hole(), path, variable_value_labels={"agree": WORDS}, compress=path.endswith("zsav"))


def portable(path):
    pytest.importorskip("pyreadstat").write_por(with_hole().rename(columns=str.upper), path)


def sas(path):
    version = 5 if path.endswith("5.xpt") else 8
    pytest.importorskip("pyreadstat").write_xport(with_hole(), path, file_format_version=version)


def stata(path):
    with_hole().to_stata(path, write_index=False, value_labels={"agree": WORDS})


def pickled(path):
    with_hole().to_pickle(path)


def anndata(path):
    package = pytest.importorskip("anndata")
    package.AnnData(TABLE.to_numpy(float), var=pd.DataFrame(index=TABLE.columns)).write_h5ad(path)


def r_object(path):
    run_r(f"saveRDS({in_r()}, '{path}')")


def r_workspace(path):
    run_r(f"d <- {in_r()}; save(d, file = '{path}')")


def archive(path):
    with_hole().to_csv(path.rsplit(".", 1)[0] + ".csv", index=False)
    with tarfile.open(path, "w:gz" if path.endswith("tgz") else "w") as out:
        out.add(path.rsplit(".", 1)[0] + ".csv", arcname="a.csv")
    os.remove(path.rsplit(".", 1)[0] + ".csv")


def run_r(code):
    if shutil.which("Rscript") is None:
        pytest.skip("there is no R")
    subprocess.run(["Rscript", "-e", code], check=True)


def in_r():
    columns = [f"{name} = c({', '.join('NA' if v != v else str(v) for v in with_hole()[name])})" for name in TABLE]
    return f"data.frame({', '.join(columns)})"


def with_hole():
    table = TABLE.astype(float)
    table.loc[4, "income"] = np.nan
    return table


#: What writes a file. Files of SAS with the extension sas7bdat and of scanpy (h5, loom) are written by no package here.
FORMATS = {
    "a.sav": spss, "a.zsav": spss, "a.por": portable, "a5.xpt": sas, "a8.xpt": sas, "a.dta": stata, "a.pkl": pickled, "a.h5ad": anndata,
    "a.rds": r_object, "a.rda": r_workspace, "a.tar": archive, "a.tgz": archive,
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_the_lines_that_convert_do(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FORMATS[name](str(tmp_path / name))
    with pytest.raises(OrthoptError) as refused:
        orthopt.solve("pca", name, 1)
    first, second = re.search("two lines make a file that is read: `(.*)` and `(.*)`$", str(refused.value)).groups()
    where = re.search(r"\. In (Python|R|a shell)", str(refused.value)).group(1)
    if where == "Python":
        subprocess.run([sys.executable, "-c", f"{first}\n{second}"], check=True)
    elif where == "R":
        run_r(f"{first}; {second}")
    else:
        subprocess.run(first, shell=True, check=True)
        if CLI is not None:
            subprocess.run(second.replace("orthopt", CLI), shell=True, check=True, capture_output=True)
    made = name.rsplit(".", 1)[0] + (".npz" if name == "a.h5ad" else ".csv")
    options = {"names": "names.txt"} if name == "a.h5ad" else {"missing": "mean"}
    found = orthopt.solve("pca", made, 1, center=True, **options)
    expected = orthopt.solve("pca", TABLE if name == "a.h5ad" else with_hole(), 1, center=True, missing="mean")
    assert [name.lower() for name in found.feature_names] == list(TABLE)
    assert found.data_shape == (30, 3)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)  # portable files and SAS round
