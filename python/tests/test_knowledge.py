"""Knowledge graphs: what the command learns, from files and from triples."""

import json
import os
import signal
import subprocess
import threading

import numpy as np
import pytest

import orthopt
from orthopt import KnowledgeGraph, errors

CLI = os.environ.get("ORTHOPT_CLI")
RING = [(f"n{i}", "next", f"n{(i + 1) % 12}") for i in range(12)]
SMALL = {"scorer": "ultrae", "dim": 8, "signature": 6, "epochs": 200, "seed": 3}


@pytest.fixture(scope="module")
def ring():
    return KnowledgeGraph(**SMALL).fit(RING, valid=RING[:4])


def test_facts_are_learned(ring):
    found = ring.evaluate(RING)
    assert found["mrr"] > 0.8 and found["triples"] == 12
    ranks = ring.ranks(RING)
    assert ranks.shape == (12, 2) and np.mean(1 / ranks) == pytest.approx(found["mrr"])
    best = ring.predict([("n3", "next", None), (None, "next", "n3")], top=2, known=True)
    assert [len(answers) for answers in best] == [2, 2]
    assert best[0][0].score == pytest.approx(ring.score([("n3", "next", best[0][0].entity)])[0])
    # what is known is left out
    new = ring.predict([("n3", "next", None)], top=20)[0]
    assert len(new) == 11 and "n4" not in [answer.entity for answer in new]


def test_ranks_leave_out_every_known_fact(tmp_path):
    """Facts of train, valid and test, whether or not test was known to fit; a slow twin ranks with NumPy."""
    rng = np.random.default_rng(4)
    facts = sorted({(f"n{h}", f"r{r}", f"n{t}") for h, r, t in rng.integers(0, (9, 2, 9), (90, 3))})
    facts = [facts[i] for i in rng.permutation(len(facts))]
    train, valid, test = facts[:30], facts[30:45], facts[45:]
    model = KnowledgeGraph(**{**SMALL, "epochs": 5}).fit(train, valid=valid)

    def twin(known):
        ranks = []
        for h, r, t in test:
            for answer, question, fact in ((t, (h, r, None), lambda e: (h, r, e)), (h, (None, r, t), lambda e: (e, r, t))):
                z = dict(model.predict([question], top=99, known=True)[0])  # of every entity
                others = np.array([z[e] for e in z if e != answer and fact(e) not in known])
                ranks.append(1 + np.sum(others > z[answer]) + np.sum(others == z[answer]) / 2)
        return np.array(ranks).reshape(-1, 2)

    right = twin(set(facts))
    assert (right != twin(set(train + valid))).any()  # other facts of test stand before some answer
    np.testing.assert_array_equal(model.ranks(test), right)
    assert model.evaluate(test)["mrr"] == pytest.approx(np.mean(1 / right))
    with_test = KnowledgeGraph(**{**SMALL, "epochs": 5}).fit(train, valid=valid, test=test)
    np.testing.assert_array_equal(with_test.ranks(test), right)
    model.save(tmp_path / "m.kg")  # has the facts of train
    loaded = KnowledgeGraph.load(tmp_path / "m.kg")
    np.testing.assert_array_equal(loaded.ranks(test, known=valid + [("nobody", "r0", "n1")]), right)
    assert (loaded.ranks(test) >= right).all() and (loaded.ranks(test) != right).any()
    if CLI is None:
        return
    for name, part in (("train", train), ("valid", valid), ("test", test)):
        (tmp_path / f"{name}.tsv").write_text("".join("\t".join(fact) + "\n" for fact in part))
    command = [CLI, "embed", "train.tsv", "--valid", "valid.tsv", "--test", "test.tsv", "--dim", "8", "--signature", "6"]
    command += ["--scorer", "ultrae", "--epochs", "5", "--seed", "3", "--json", "-"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(said.stdout)["test"]["mrr"] == pytest.approx(np.mean(1 / right))


def test_embeddings_are_on_their_manifolds(ring):
    j = np.diag([1.0] * 6 + [-1.0] * 2)
    for r in ring.relation_matrices_:
        assert np.abs(r.T @ j @ r - j).max() < 1e-10
    points = ring.entity_embeddings_
    inner = np.einsum("ik,kl,il->i", points, j, points)
    np.testing.assert_allclose(inner, inner[0], rtol=1e-9)
    assert points.shape == (12, 8) and inner[0] < 0
    assert ring.history_[-1]["epoch"] == 200 and ring.status_ == "max_iters"
    assert all(record["residual"] < 1e-10 for record in ring.history_)


@pytest.mark.parametrize("scorer", ["bilinear", "complex"])
def test_scores_are_inner_products(scorer, tmp_path):
    model = KnowledgeGraph(scorer=scorer, dim=16, epochs=60).fit(RING)
    assert model.evaluate(RING)["mrr"] > 0.8 and model.entity_embeddings_.shape == (12, 16)
    j = np.diag([1.0] * model.signature_ + [-1.0] * (16 - model.signature_))
    x, r = model.entity_embeddings_, model.relation_matrices_[0]
    if scorer == "bilinear":
        assert np.abs(r.T @ j @ r - j).max() < 1e-12 and model.signature_ == 8
    number = {name: i for i, name in enumerate(model.entities_)}
    products = np.array([x[number[t]] @ j @ r @ x[number[h]] for h, _, t in RING])
    factors = model.score(RING) / products  # c_r
    np.testing.assert_allclose(factors, factors[0], rtol=1e-9)
    model.save(tmp_path / "m.kg")
    np.testing.assert_array_equal(KnowledgeGraph.load(tmp_path / "m.kg").score(RING), model.score(RING))


def test_the_same_bits_as_the_command_and_files_of_either(ring, tmp_path):
    lines = "".join("\t".join(fact) + "\n" for fact in RING)
    (tmp_path / "train.tsv").write_text(lines)
    (tmp_path / "valid.tsv").write_text("".join("\t".join(fact) + "\n" for fact in RING[:4]))
    again = KnowledgeGraph(**SMALL).fit(tmp_path / "train.tsv", valid=tmp_path / "valid.tsv")
    np.testing.assert_array_equal(again.entity_embeddings_, ring.entity_embeddings_)
    ring.save(tmp_path / "m.kg")
    loaded = KnowledgeGraph.load(tmp_path / "m.kg")
    np.testing.assert_array_equal(loaded.score(RING), ring.score(RING))
    if CLI is None:
        pytest.skip("ORTHOPT_CLI names no command to compare with")
    train = [CLI, "embed", "train.tsv", "--valid", "valid.tsv", "--dim", "8", "--signature", "6"]
    train += ["--scorer", "ultrae", "--epochs", "200", "--seed", "3", "--save-model", "c.kg", "-q"]
    subprocess.run(train, cwd=tmp_path, check=True, capture_output=True)
    np.testing.assert_array_equal(
        KnowledgeGraph.load(tmp_path / "c.kg").entity_embeddings_, ring.entity_embeddings_
    )
    (tmp_path / "q.tsv").write_text("n3\tnext\t?\n")
    said = subprocess.run(
        [CLI, "embed", "predict", "m.kg", "q.tsv"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert said.stdout.split("\t")[2] == ring.predict([("n3", "next", None)])[0][0].entity


def test_a_race_chooses_the_signature(tmp_path):
    valid = [(f"n{i}", "next", f"n{(i + 1) % 12}") for i in range(3)]
    model = KnowledgeGraph(dim=6, signature="auto", epochs=15).fit(RING, valid=valid)
    race = model.race_
    assert [tried["signature"] for tried in race["tried"]] == [3, 5, 6, 0] and race["ended"] == "one_left"
    assert model.signature_ == race["chosen"] and f"signature={race['chosen']}" in repr(model)
    alone = KnowledgeGraph(dim=6, signature=race["chosen"], epochs=15).fit(RING, valid=valid)
    np.testing.assert_array_equal(alone.entity_embeddings_, model.entity_embeddings_)
    assert alone.race_ is None
    without = KnowledgeGraph(dim=6, epochs=2).fit(RING, valid=valid)
    assert without.signature_ == 3 and without.race_ is None
    with pytest.raises(errors.IncompatibleError, match="valid has no triples"):
        KnowledgeGraph(dim=6, signature="auto").fit(RING)
    model.save(tmp_path / "m")
    assert KnowledgeGraph.load(tmp_path / "m").signature_ == race["chosen"]


def test_ctrl_c_and_callbacks_end_training():
    facts = np.random.default_rng(0).integers(0, 300, (4000, 3)) % [300, 5, 300]
    threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
    model = KnowledgeGraph(dim=16, epochs=10**6).fit(facts)
    assert model.status_ == "interrupted" and np.isfinite(model.entity_embeddings_).all()
    seen = []

    def look(record):
        seen.append(record)
        return True

    model = KnowledgeGraph(dim=16, epochs=10**6).fit(facts, callback=look)
    assert model.status_ == "interrupted" and seen[0]["epoch"] >= 1 and seen[0]["signature"] == 8
    model = KnowledgeGraph(dim=16, epochs=10**6).fit(facts, time_limit=0.3)
    assert model.status_ == "time_limit"


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: KnowledgeGraph(dims=3), errors.InvalidOptionError, "not an option"),
        (lambda: KnowledgeGraph(loss="hinge").fit(RING), errors.InvalidOptionError, "hinge"),
        (lambda: KnowledgeGraph(lr=-1).fit(RING), errors.InvalidOptionError, "lr"),
        (lambda: KnowledgeGraph(lr=object()).fit(RING), errors.InvalidOptionError, "neither"),
        (lambda: KnowledgeGraph(dim=4, signature=9).fit(RING), errors.OrthoptError, "9"),
        (lambda: KnowledgeGraph().fit([]), errors.IncompatibleError, "train"),
        (lambda: KnowledgeGraph().fit([("a", "b")]), errors.DataTypeError, "triple 1"),
        (lambda: KnowledgeGraph().fit("nothing.tsv"), errors.DataFileError, "nothing.tsv"),
        (lambda: KnowledgeGraph().fit("a.tsv", valid=RING), errors.DataTypeError, "all as files"),
        (lambda: KnowledgeGraph().score(RING), errors.OrthoptError, "not been trained"),
    ],
)
def test_what_is_wrong_is_said(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def test_names_that_are_not_there(ring):
    for asked in [[("n3", "next", "n99")], [("n3", "before", "n1")]]:
        with pytest.raises(errors.UnknownNameError):
            ring.score(asked)
    for question in [("n3", "next", "n4"), (None, "next", None), ("n3", None)]:
        with pytest.raises(errors.DataTypeError):
            ring.predict([question])
    with pytest.raises(ValueError, match="top"):
        ring.predict([("n3", "next", None)], top=0)


def test_options_are_those_of_the_command():
    assert orthopt.KnowledgeGraph.defaults()["dim"] == 256
