"""``explore``: answers, numbers and calls that repeat them."""

import numpy as np
import orthopt
import pytest


def planted(seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((120, 2))
    loads = np.zeros((2, 9))
    loads[0, :3], loads[1, 3:6] = 1, 1
    return factors @ loads + 0.3 * rng.standard_normal((120, 9))


def test_planted_groups_and_calls_that_repeat_the_steps():
    data = planted()
    found = orthopt.explore(data, 2)
    assert found.nonzeros == 3
    assert {tuple(np.flatnonzero(column)) for column in found.solution.X.T} == {(0, 1, 2), (3, 4, 5)}
    assert found.stability.frequency[0, np.flatnonzero(found.solution.X[0])[0]] > 0.9
    step = next(step for step in found.steps if "stability" in step.code)
    if not step.limited:
        assert np.array_equal(eval(step.code).frequency, found.stability.frequency)
    assert found.most_possible >= found.solution.explained_variance.total - 1e-12
    assert not found.interrupted
    again = eval(found.steps[1].code)
    assert np.array_equal(again.X, found.solution.X)
    path = eval(found.steps[0].code)
    assert np.array_equal(path.at, found.path.at)


def test_fewer_variables_where_halves_do_not_agree():
    t = np.arange(40.0)
    a, b = np.sin(0.9 * t), np.cos(2.3 * t + 1)
    groups = np.array([a, a, -a, b, 2 * b, b]) + 0.1 * np.sin(np.outer(np.arange(4.7, 10), t))
    found = orthopt.explore(np.vstack([groups, np.sin(5.1 * t)]).T, 3)
    sure = (found.stability.frequency >= 0.9) & (found.solution.X != 0)
    counts = np.maximum(sure.sum(axis=0), 1)
    assert counts.sum() < (found.solution.X != 0).sum() and (found.fewer.nnz_per_component <= counts).all()
    text = "With as many variables as halves of the rows agree on"
    assert text in str(found) and text in found._repr_html_()
    assert orthopt.explore(planted(), 2).fewer is None


def test_the_number_of_components_is_that_of_parallel_analysis():
    found = orthopt.explore(planted())
    assert found.solution.rank == 2
    assert found.answers[0][0] == "how many components"


def test_text_and_page():
    found = orthopt.explore(planted(), 2)
    text, page = str(found), found._repr_html_()
    for question, answers in found.answers:
        assert answers[0] in text
        assert question[0].upper() + question[1:] in page
    assert "<svg" in page
    assert "orthopt.solve" in text


def test_names_and_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(planted(), columns=[f"v<{k}>" for k in range(9)])
    found = orthopt.explore(frame, 2)
    assert found.solution.feature_names == list(frame.columns)
    assert "v<0>" not in found._repr_html_()


def test_c_itself_is_not_scaled():
    found = orthopt.explore("builtin:pitprops", 2)
    assert "scale" not in found.steps[1].code
    c = np.corrcoef(planted().T)
    found = orthopt.explore(c, 2, gram=True)
    assert found.nonzeros == 3
    with pytest.raises(orthopt.OrthoptError):
        orthopt.explore("builtin:pitprops", 2, scale="std")


def test_what_does_not_apply_is_refused():
    for option in ({"lam": 1.0}, {"nonzeros": 3}, {"solver": "obcd"}, {"effort": "quick"}):
        with pytest.raises(orthopt.OrthoptError):
            orthopt.explore(planted(), 2, **option)


def test_a_callback_ends_it():
    asked = []

    def ended(question):
        asked.append(question)
        return True

    found = orthopt.explore(np.random.default_rng(0).standard_normal((200, 150)), 5, callback=ended)
    assert found.interrupted
    assert asked
    assert found.solution.feasibility < 1e-12


def test_summary_and_loadings_are_frames():
    pandas = pytest.importorskip("pandas")
    found = orthopt.solve("l0-pca", "builtin:pitprops", 3, nonzeros=4)
    loadings, summary = found.loadings, found.summary()
    assert list(loadings.columns) == ["PC1", "PC2", "PC3"]
    assert loadings.loc["topdiam"].tolist() == found.X[0].tolist()
    assert summary["nonzeros"].tolist() == [4, 4, 4]
    assert summary["together"].iloc[-1] == pytest.approx(found.explained_variance.total)
    frame = pandas.DataFrame(planted(), columns=list("abcdefghi"))
    fitted = orthopt.SparsePCA(2, nonzeros=3).fit(frame)
    assert list(fitted.loadings.index) == list("abcdefghi")
    assert np.array_equal(fitted.loadings.to_numpy(), fitted.components_.T)
    assert len(fitted.summary()) == 2
    with pytest.raises(Exception, match="not fitted"):
        orthopt.SparsePCA(2).summary()
