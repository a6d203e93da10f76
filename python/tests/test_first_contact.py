"""Data as people have them in Python: files with columns of text, frames with NA, weights, single cells."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import NonnegativePCA, SparsePCA, errors

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(4)
ROWS = RNG.integers(1, 6, (40, 5)).astype(float) + RNG.normal(size=(40, 5))
WEIGHTS = RNG.integers(1, 4, 40)
REPEATED = np.repeat(ROWS, WEIGHTS, axis=0)
HOW = {"rank": 2, "nonzeros": 3, "scale": "std"}


def test_files_say_how_they_are_read(tmp_path):
    path = tmp_path / "iris.csv"
    lines = [f"{5 + k % 3}.{k},{3 + k % 2}.{k},{'a' if k < 4 else 'b'}" for k in range(8)]
    path.write_text("length,width,species\n" + "\n".join(lines) + "\n")
    with pytest.warns(errors.OrthoptWarning, match="column `species` holds words and is left out"):
        assert orthopt.solve("pca", path, 1, center=True).feature_names == ["length", "width"]
    for options in ({"drop": "species"}, {"drop": ["species"]}, {"columns": ["length", "width"]}, {"columns": "1-2"}):
        found = orthopt.solve("pca", path, 1, center=True, **options)
        assert found.feature_names == ["length", "width"]
    (tmp_path / "counts.csv").write_text("0,1,2\n" + "".join(f"{k}.5,{k * k},{3 - k}\n" for k in range(5)))
    with pytest.warns(errors.OrthoptWarning, match=r'header="no" reads it as a sample'):
        orthopt.solve("pca", tmp_path / "counts.csv", 1, center=True)


def test_data_that_are_not_centred_are_told():
    with pytest.warns(errors.OrthoptWarning, match="the columns are not centred"):
        orthopt.solve("pca", ROWS + 100, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        orthopt.solve("pca", ROWS + 100, 1, center=True)


@pytest.mark.parametrize("prepare", [{"scale": "std"}, {"covariance": True}, {"center": True}, {}])
def test_weights_are_repeated_rows(prepare):
    how = {"rank": 2, "nonzeros": 3, **prepare}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = orthopt.solve("l0-pca", REPEATED, **how).objective
        frame = pd.DataFrame(ROWS, columns=list("abcde")).assign(w=WEIGHTS)
        for data, weights in ((ROWS, WEIGHTS), (sp.csr_matrix(ROWS), WEIGHTS), (frame, "w")):
            found = orthopt.solve("l0-pca", data, weights=weights, **how).objective
            assert found == pytest.approx(expected, rel=1e-12)
    with pytest.raises(errors.OrthoptError, match="3 weights for 40 rows"):
        orthopt.solve("l0-pca", ROWS, weights=[1, 2, 3], **how)


@pytest.mark.parametrize("make", [lambda: SparsePCA(2, nonzeros=3), lambda: NonnegativePCA(2)])
def test_weights_of_estimators(make):
    expected = make().fit(REPEATED)
    for found in (make().fit(ROWS, sample_weight=WEIGHTS), make().partial_fit(ROWS, sample_weight=WEIGHTS)):
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
        np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12)
        # F is flat at its minimum: an X that is a millionth off has the same F to twelve digits.
        np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=1e-6)


def test_nullable_columns():
    frame = pd.DataFrame(RNG.integers(0, 9, (30, 4)), columns=list("abcd")).astype("Int64")
    frame.iloc[2, 1] = pd.NA
    plain = frame.astype("float64")
    for how in ("mean", "drop", "em"):
        options = {"rank": 2, "nonzeros": 2, "center": True, "missing": how}
        assert orthopt.solve("l0-pca", frame, **options).objective == orthopt.solve("l0-pca", plain, **options).objective
    with pytest.raises(errors.NotFiniteError, match="row 3, column 2"):
        orthopt.solve("l0-pca", frame, 2, nonzeros=2, center=True)


def test_columns_of_text_in_frames():
    frame = pd.DataFrame(ROWS, columns=list("abcde")).assign(kind="x")
    expected = orthopt.solve("l0-pca", ROWS, **HOW).objective
    with pytest.warns(errors.OrthoptWarning, match="column `kind` holds words and is left out"):
        assert orthopt.solve("l0-pca", frame, **HOW).objective == expected
    with pytest.raises(errors.DataTypeError, match=r"`7 lb` in column 6 \(`kind`\)|`5 kg` in column 6 \(`kind`\)"):
        orthopt.solve("l0-pca", frame.assign(kind=["5 kg", "7 lb"] * (len(frame) // 2)), **HOW)
    with pytest.warns(errors.OrthoptWarning, match=r"column `id` \(0, 1, 2, \.\.\.\) tells the rows apart"):
        assert orthopt.solve("l0-pca", frame.assign(id=range(40)), drop="kind", **HOW).objective == expected
    assert orthopt.solve("l0-pca", frame, drop=["kind"], **HOW).objective == expected
    assert orthopt.solve("l0-pca", frame, drop="text", **HOW).objective == expected
    assert orthopt.solve("l0-pca", frame, columns=list("abcde"), **HOW).feature_names == list("abcde")


def test_masked_arrays():
    masked = np.ma.masked_array(ROWS, mask=np.zeros_like(ROWS, dtype=bool))
    masked[3, 1] = np.ma.masked
    holes = ROWS.copy()
    holes[3, 1] = np.nan
    options = {"rank": 2, "nonzeros": 3, "center": True, "missing": "mean"}
    assert orthopt.solve("l0-pca", masked, **options).objective == orthopt.solve("l0-pca", holes, **options).objective


def test_missing_values_of_estimators():
    holes = ROWS.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SparsePCA(2, nonzeros=3).fit(holes)
    for how in ("mean", "em", "drop"):
        fitted = SparsePCA(2, nonzeros=3, missing=how).fit(holes)
        assert fitted.n_samples_ == (39 if how == "drop" else 40)
    filled = SparsePCA(2, nonzeros=3, missing="mean").fit(holes)
    scores = filled.transform(holes)
    assert np.isfinite(scores).all()
    holes[3, 1] = filled.mean_[1]
    np.testing.assert_allclose(scores, filled.transform(holes))


class FakeAnnData:
    """As much of an AnnData object as is looked at."""

    def __init__(self, X, names):
        self.X, self.var_names = X, np.asarray(names, dtype=object)
        self.n_vars, self.var = X.shape[1], pd.DataFrame(index=names)
        self.n_obs = X.shape[0]
        self.layers, self.obsm, self.varm, self.uns = {}, {}, {}, {}

    def copy(self):
        return copy.deepcopy(self)


def cells(monkeypatch):
    """AnnData, or what stands for it where the package is not there."""
    X = sp.csr_matrix(RNG.poisson(0.5, (60, 20)).astype("f4"))
    names = [f"g{i}" for i in range(20)]
    try:
        import anndata

        return anndata.AnnData(X, var=pd.DataFrame(index=names))
    except ImportError:
        import sys
        import types

        monkeypatch.setitem(sys.modules, "anndata", types.SimpleNamespace(AnnData=FakeAnnData))
        return FakeAnnData(X, names)


def test_single_cells(monkeypatch):
    from orthopt.scanpy import sparse_pca

    adata = cells(monkeypatch)
    found = orthopt.solve("l0-pca", adata, rank=2, nonzeros=3, center=True)
    assert found.feature_names == [f"g{i}" for i in range(20)]
    fitted = SparsePCA(2, nonzeros=3).fit(adata)
    assert list(fitted.feature_names_in_) == found.feature_names
    kept = sparse_pca(adata, 2, 3)
    assert adata.obsm["X_pca"].shape == (60, 2) and adata.varm["PCs"].shape == (20, 2)
    assert (np.count_nonzero(adata.varm["PCs"], axis=0) <= 3).all()
    variance = np.asarray(adata.obsm["X_pca"])[:, 0].var(ddof=1)
    assert adata.uns["pca"]["variance"][0] == pytest.approx(variance, rel=1e-5)
    assert kept.rank == 2
    sparse_pca(adata, 2, 3, key_added="sparse")
    assert "sparse" in adata.obsm and "sparse" in adata.varm and "sparse" in adata.uns


def test_single_cells_take_what_scanpy_takes(monkeypatch):
    from orthopt.scanpy import sparse_pca

    adata = cells(monkeypatch)
    # as many components as scanpy has where there are fewer than 50
    assert sparse_pca(adata, nonzeros=2, effort="quick").rank == 19
    assert adata.varm["PCs"].shape == (20, 19)
    few = adata.var_names.isin(["g1", "g3", "g4", "g7", "g9"]) if hasattr(adata.var_names, "isin") else np.isin(adata.var_names, ["g1", "g3", "g4", "g7", "g9"])
    # genes by an array, by a column, and those that vary, unless all are asked for
    by_array = sparse_pca(adata, 2, 2, mask_var=few)
    assert by_array.feature_names == ["g1", "g3", "g4", "g7", "g9"]
    assert not adata.varm["PCs"][~few].any() and (adata.uns["pca"]["params"]["mask_var"] == few).all()
    assert sparse_pca(adata, nonzeros=2, mask_var=few).rank == 4
    adata.var["mine"], adata.var["highly_variable"] = few, ~few
    assert sparse_pca(adata, 2, 2, mask_var="mine").feature_names == by_array.feature_names
    assert adata.uns["pca"]["params"]["mask_var"] == "mine"
    assert sparse_pca(adata, 2, 2).feature_names == [f"g{i}" for i in range(20) if not few[i]]
    assert adata.uns["pca"]["params"]["use_highly_variable"]
    assert len(sparse_pca(adata, 2, 2, mask_var=None).feature_names) == 20
    before = dict(adata.uns)
    other = sparse_pca(adata, 3, 2, mask_var="mine", copy=True, key_added="sparse")
    assert "sparse" in other.obsm and "sparse" not in adata.obsm and dict(adata.uns).keys() == before.keys()
    assert other.uns["sparse"]["params"]["n_comps"] == 3
    found = sparse_pca(adata, "auto", 2, mask_var=None)
    assert found.rank == orthopt.scree(adata, center=True, covariance=True).rank
    assert adata.uns["pca"]["params"]["n_comps"] == found.rank


@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"mask_var": "none"}, errors.InvalidOptionError, "no such column; columns: kind"),
        ({"mask_var": "kind"}, errors.InvalidOptionError, "booleans are expected"),
        ({"mask_var": np.zeros(20, bool)}, errors.InvalidOptionError, "no gene"),
        ({"mask_var": np.ones(19, bool)}, errors.ShapeError, "for 20 genes"),
        ({"mask_var": np.arange(20)}, errors.InvalidOptionError, "booleans are expected"),
        ({"layer": "raw"}, errors.InvalidOptionError, "layers: none"),
        ({"n_comps": 21}, errors.RankError, "20"),
    ],
)
def test_single_cells_refuse_what_is_not_there(options, error, said, monkeypatch):
    from orthopt.scanpy import sparse_pca

    adata = cells(monkeypatch)
    adata.var["kind"] = "gene"
    with pytest.raises(error, match=said):
        sparse_pca(adata, **{"n_comps": 2, "nonzeros": 2, **options})
    with pytest.raises(errors.DataTypeError, match="not ndarray"):
        sparse_pca(np.ones((4, 3)))


def test_estimators_name_columns_of_text():
    frame = pd.DataFrame({"a": [1.0, 2, 4, 3], "b": [2.0, 1, 3, 5], "kind": list("xyxy")})
    with pytest.raises(errors.DataTypeError, match=r"columns \['kind'\] hold no numbers; X.drop\(columns=\['kind'\]\)"):
        SparsePCA(1).fit(frame)
    SparsePCA(1).fit(frame.drop(columns=["kind"]))
