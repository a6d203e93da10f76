"""Files of other programs: the two lines that a message gives are run, and what they write is the table."""

import base64
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zlib

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


def tenx(path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("scanpy")
    rows, columns = np.nonzero(TABLE.to_numpy())
    words = {"id": list(TABLE), "name": list(TABLE), "feature_type": ["Gene Expression"] * 3, "genome": ["x"] * 3}
    with h5py.File(path, "w") as file:
        matrix = file.create_group("matrix")  # genes in rows, by columns
        matrix["data"], matrix["indices"] = TABLE.to_numpy()[rows, columns], columns
        matrix["indptr"], matrix["shape"] = np.searchsorted(rows, np.arange(31)), np.array([3, 30])
        matrix["barcodes"] = np.array([f"c{i}" for i in range(30)], dtype="S")
        for name, values in words.items():
            matrix[f"features/{name}"] = np.array(values, dtype="S")


def hdf5(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["X"] = with_hole().to_numpy()


def loom(path):
    genes, cells = {"Gene": np.array(list(TABLE))}, {"CellID": np.array([f"c{i}" for i in range(30)])}
    pytest.importorskip("scanpy")
    pytest.importorskip("loompy").create(path, TABLE.to_numpy(float).T, genes, cells)


def weka(path):
    pytest.importorskip("scipy")
    head = "".join(f"@attribute {name} numeric\n" for name in TABLE) + "@attribute kind {p,q}\n"
    rows = with_hole().assign(kind="p").to_csv(header=False, index=False, na_rep="?", lineterminator="\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"@relation table\n{head}@data\n{rows}")


def seven_zip(path):
    if shutil.which("7z") is None:
        pytest.skip("there is no 7z")
    with_hole().to_csv("inside.csv", index=False)
    subprocess.run(["7z", "a", path, "inside.csv"], check=True, capture_output=True)
    os.remove("inside.csv")


def zstandard(path):
    if shutil.which("zstd") is None:
        pytest.skip("there is no zstd")
    with_hole().to_csv("a.csv", index=False)
    subprocess.run(["zstd", "-q", "--rm", "a.csv", "-o", path], check=True)


def r_object(path):
    run_r(f"saveRDS({in_r()}, '{path}')")


def r_workspace(path):
    run_r(f"d <- {in_r()}; save(d, file = '{path}')")


def archive(path):
    with_hole().to_csv(path.rsplit(".", 1)[0] + ".csv", index=False)
    with tarfile.open(path, "w:gz" if path.endswith("tgz") else "w") as out:
        out.add(path.rsplit(".", 1)[0] + ".csv", arcname="another name.csv")
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


#: What writes a file. `sas7bdat` has a test of its own; nothing here writes `rar` and `numbers`.
FORMATS = {
    "a.sav": spss, "a.zsav": spss, "a.por": portable, "a5.xpt": sas, "a8.xpt": sas, "a.dta": stata, "a.pkl": pickled, "a.h5ad": anndata,
    "a.rds": r_object, "a.rda": r_workspace, "a.tar": archive, "a.tgz": archive, "a.h5": tenx, "a.hdf5": hdf5, "a.loom": loom,
    "a.7z": seven_zip, "a.csv.zst": zstandard, "a.arff": weka,
}  # fmt: skip
#: Those with genes, or other variables with names beside the numbers, all of them whole.
OF_CELLS = ("a.h5ad", "a.h5", "a.loom")


def run_lines(name):
    """Runs what a message gives for a file."""
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


@pytest.mark.parametrize("name", FORMATS)
def test_the_lines_that_convert_do(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FORMATS[name](str(tmp_path / name))
    run_lines(name)
    cells = name in OF_CELLS
    made = name.split(".")[0] + (".npz" if cells else ".npy" if name == "a.hdf5" else ".csv")
    options = {"names": "names.txt"} if cells else {"missing": "mean"}
    found = orthopt.solve("pca", made, 1, center=True, **options)
    expected = orthopt.solve("pca", TABLE if cells else with_hole(), 1, center=True, missing="mean")
    assert name == "a.hdf5" or [name.lower() for name in found.feature_names] == list(TABLE)
    assert found.data_shape == (30, 3)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)  # some have single precision


#: Four rows of `age`, `income` (the second is missing) and `group`, as `haven::write_sas` of R writes them; compressed.
SAS = (
    "eNrt2j1LQlEcx/G/qWEPwxUcHIJEGprCWxK2lBdSEmzSF5CJiEMagdRWbQ1NvYNeQ3MQLbVFW1t7L6CEHuzaOaWeMhuCkL6fO/zv+Z2Hi8KFc+CKtJ3f7a+d"
    "hIJXp0cBGbmwD8OTVnBOJCoeseVboa5WzslF0plsatnJO7lUPtKL9NGar8btHfu3b512NbRWskSGjHhhJmbH7NWYW+Nunc9WqvUdAQAAAAAAAAAAAADgPwq4"
    "l8jNuGpNe7t7z3QeNmYd6DzxHnhUyes8buQBnWeN/HJM1aS5fo98pUcOAAAA/KaXx+abQZ3/pKY3E592/yI+dzMeMNpWxzbdZ3x5q5dqRj6SCVHHhogMq1OE"
    "+I3nPOs5Ux2Z+Z1woVySSrVY2yiJlLdq9U03u3e1+oxjiTy4fvK7g7r6evR7+y1gfR03DbwhGEiezjdjVh+rG0sFdbOoguvG7roK0nrEaFKPyOggmizyZwIA"
    "AAAA8DdeAWQVeYA="
)


def test_the_lines_that_convert_sas(tmp_path, monkeypatch):
    pytest.importorskip("pyreadstat")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sas7bdat").write_bytes(zlib.decompress(base64.b64decode(SAS)))
    run_lines("a.sas7bdat")
    found = orthopt.solve("pca", "a.csv", 1, missing="mean")
    expected = pd.DataFrame({"age": [18, 30, 44, 50.0], "income": [1.5, np.nan, 3.25, 9], "group": ["a", "b", "a", "c"]})
    assert pd.read_csv("a.csv").equals(expected) and found.feature_names == ["age", "income"]


def test_the_lines_that_convert_genotypes(tmp_path, monkeypatch):
    pytest.importorskip("allel")
    monkeypatch.chdir(tmp_path)
    alleles = np.random.default_rng(2).integers(0, 2, (6, 5, 2))  # places, samples
    head = '##fileformat=VCFv4.2\n##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n'
    head += "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + "\t".join(f"s{k}" for k in range(5))
    rows = ["\t".join(["1", str(i + 1), f"rs{i}", "A", "G", "50", "PASS", ".", "GT", *(f"{a}/{b}" for a, b in row)]) for i, row in enumerate(alleles)]
    (tmp_path / "a.vcf").write_text("\n".join([head, *rows, ""]))
    run_lines("a.vcf")
    assert (np.load("a.npy") == alleles.sum(axis=2).T).all()
