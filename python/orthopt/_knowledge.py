"""``KnowledgeGraph``: the command ``embed``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Iterable, NamedTuple, Sequence

import numpy as np

from . import _orthopt
from ._ending import calls
from ._options import seconds as checked_seconds
from .errors import DataTypeError, InvalidOptionError, OrthoptError, UnknownNameError

#: Questions that are answered at a time: their scores take so many rows of all entities.
QUESTIONS = 256


class Answer(NamedTuple):
    """One answer to a question."""

    #: The entity.
    entity: str
    #: z(h, r, t); larger is more plausible.
    score: float


class KnowledgeGraph:
    """Relations as J-orthogonal matrices, R'JR = J, between entities.

    ``scorer`` says when a fact (h, r, t) is plausible: with ``"bilinear"`` where ``z = c_r <R_r x_h, x_t>_J`` is large,
    with ``"ultrae"`` where the image of h is near t in ultrahyperbolic space, ``z = -d(R_r e_h, e_t) + b_h + b_t + margin``.
    ``"complex"`` is ComplEx, a baseline without J-orthogonal matrices.

    Parameters
    ----------
    dim : int, default None
        Coordinates of an entity; by default 256, with ``scorer="ultrae"`` 32.
    signature : int or "auto", default None
        Number of coordinates with J = 1, by default ``dim // 2``, with ``scorer="ultrae"`` ``dim - 1`` (hyperbolic space) and
        with ``scorer="complex"`` ``dim``. ``"auto"`` chooses among ``dim - 1``, ``dim`` (Euclidean space, rotations),
        ``dim // 2`` and 0 (a sphere) by a race on ``valid``.
    **options
        Those of ``orthopt embed``, with underscores: ``scorer``, ``epochs``, ``lr``, ``batch``, ``negatives``, ``loss``, ``relations``,
        ``rule``, ``seed``, ...; :meth:`defaults` has all of them with their values (the
        default ``lr`` of Adam is a hundredth of that of Adagrad, and ``relation_lr`` a tenth of ``lr``).

    Attributes
    ----------
    entities_, relations_ : list of str
    entity_embeddings_ : array (n_entities, dim)
    history_ : list of dict
        Epoch, seconds, loss, ``residual`` (max ``|R'JR - J|``) and the ranking of valid.
    signature_ : int
        The signature of the model.
    race_ : dict or None
        The race that chose it: ``tried`` (``signature``, ``epochs``, ``mrr`` on valid), ``chosen``, ``rounds``, ``ended``.
    status_ : str
        ``"max_iters"`` after all epochs, ``"time_limit"``, ``"converged"`` (no better MRR on valid), ``"interrupted"``, ...

    Examples
    --------
    A ring of twelve:

    >>> from orthopt import KnowledgeGraph
    >>> ring = [(f"n{i}", "next", f"n{(i + 1) % 12}") for i in range(12)]
    >>> model = KnowledgeGraph(dim=8, epochs=100).fit(ring)
    >>> model.evaluate(ring)["mrr"] > 0.9
    True
    >>> model.predict([("n3", "next", None)], top=1, known=True)[0][0].entity
    'n4'
    """

    def __init__(self, dim: int | None = None, signature: int | str | None = None, **options: Any):
        known = self.defaults()
        for name in options:
            if name not in known:
                raise InvalidOptionError(f"{name} is not an option of KnowledgeGraph; options are {', '.join(known)}")
        self.dim = dim
        self.signature = signature
        self.options = options
        self._model: Any = None

    @staticmethod
    def defaults() -> dict[str, Any]:
        """All options and their defaults."""
        return dict(json.loads(_orthopt.knowledge_options()))

    def fit(
        self,
        train: Any,
        valid: Any = None,
        test: Any = None,
        *,
        time_limit: float | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> KnowledgeGraph:
        """Learns from facts: a file (``head<TAB>relation<TAB>tail`` or OpenKE's), a sequence of triples, or an array
        (m, 3). ``valid`` chooses the best epoch; facts of ``valid`` and ``test`` count as known answers when ranks are
        filtered. Without ``epochs`` a ``time_limit`` ends training, or, without ``patience``, a quarter of
        it in which ``valid`` has had no better MRR. Ctrl-C ends training with the best model so
        far. ``callback`` is called with the record of an epoch and its ``signature``; a true value ends training.
        """
        parts = (train, valid, test)
        files = [isinstance(part, (str, Path)) for part in parts if part is not None]
        if any(files) and not all(files):
            raise DataTypeError("give train, valid and test all as files or all as triples")
        if all(files):
            paths = [None if part is None else Path(part) for part in parts]
            entities, relations, tables = _orthopt.read_knowledge(*paths)
        else:
            entities, relations, tables = _numbered(parts)
        given = {**self.options, "dim": self.dim, "signature": self.signature}
        limit = None if time_limit is None else checked_seconds("time_limit", time_limit)
        look = None if callback is None else lambda record, p: bool(callback({**json.loads(record), "signature": p}))
        tables = [np.ascontiguousarray(t, dtype=np.uint32).reshape(-1, 3) for t in tables]
        with calls(look) as (called,):
            self._take(_orthopt.train_knowledge(entities, relations, *tables, _json(given), limit, called))
        return self

    def score(self, triples: Any) -> np.ndarray:
        """z of every triple (m, 3); larger is more plausible."""
        return self._fitted().score(self._ids(triples))

    def evaluate(self, triples: Any, *, known: Any = ()) -> dict[str, Any]:
        """Filtered ranking of both sides of the triples: ``mrr``, ``hits1``, ``hits3``, ``hits10``, ``triples``.

        An answer is ranked among all entities but those of other known facts: the facts given to :meth:`fit`, ``triples``
        themselves, and ``known``. Give all of a test set at once. A model of :meth:`load` has the facts of train alone:
        give those of valid as ``known``."""
        return self._ranked(triples, known)[0]

    def ranks(self, triples: Any, *, known: Any = ()) -> np.ndarray:
        """The filtered ranks (m, 2) of tail and head of every triple, as in :meth:`evaluate`."""
        return self._ranked(triples, known)[1]

    def predict(
        self, questions: Iterable[Sequence[Any]], top: int = 10, *, known: bool = False
    ) -> list[list[Answer]]:
        """The best answers to questions ``(head, relation, None)`` and ``(None, relation, tail)``; facts that the model was
        trained with are left out unless ``known``."""
        model, asked = self._fitted(), list(questions)
        if top < 1:
            raise InvalidOptionError(f"top is {top}: expected at least 1")
        rows = np.array([self._question(q) for q in asked], dtype=np.uint32).reshape(-1, 3)
        found: list[list[Answer]] = []
        for start in range(0, len(rows), QUESTIONS):
            for scores in model.answers(rows[start : start + QUESTIONS], not known):
                best = np.argsort(-scores, kind="stable")[:top]
                best = best[np.isfinite(scores[best])]
                found.append([Answer(self.entities_[i], float(scores[i])) for i in best])
        return found

    def save(self, path: Any) -> None:
        """Writes the model; ``orthopt embed predict`` and :meth:`load` read it."""
        self._fitted().write(Path(path))

    @classmethod
    def load(cls, path: Any) -> KnowledgeGraph:
        """A model that :meth:`save` or ``orthopt embed --save-model`` wrote. The facts of train are stored in it."""
        model = _orthopt.Knowledge.read(Path(path))
        options = json.loads(model.options)
        made = cls(options.pop("dim"), options.pop("signature"), **options)
        made._take(model)
        return made

    def _take(self, model: Any) -> None:
        self._model = model
        self.entities_, self.relations_ = model.entities, model.relations
        self.entity_embeddings_ = model.points()
        self.history_, self.status_ = json.loads(model.history), model.status
        self.signature_, self.race_ = json.loads(model.options)["signature"], json.loads(model.race)
        self._entity = {name: i for i, name in enumerate(self.entities_)}
        self._relation = {name: i for i, name in enumerate(self.relations_)}

    @property
    def relation_matrices_(self) -> np.ndarray:
        """The matrices of the relations, (n_relations or twice as many with ``reciprocal``, dim, dim), made at every access."""
        return self._fitted().matrices()

    def _fitted(self) -> Any:
        if self._model is None:
            raise OrthoptError("this KnowledgeGraph has not been trained: call fit or load first")
        return self._model

    def _ranked(self, triples: Any, known: Any) -> tuple[dict[str, Any], np.ndarray]:
        model = self._fitted()
        # a fact of something that the model does not know is no answer to any question
        inside = lambda h, r, t: str(h) in self._entity and str(r) in self._relation and str(t) in self._entity  # noqa: E731
        facts = self._ids([row for row in _rows(known) if inside(*row)])
        found = model.rank(self._ids(triples), facts)
        if found is None:
            raise KeyboardInterrupt
        return found

    def _ids(self, triples: Any) -> np.ndarray:
        self._fitted()
        rows = [(self._id(h), self._kind(r), self._id(t)) for h, r, t in _rows(triples)]
        return np.array(rows, dtype=np.uint32).reshape(-1, 3)

    def _question(self, question: Sequence[Any]) -> tuple[int, int, int]:
        if len(question) != 3 or (question[0] is None) == (question[2] is None):
            raise DataTypeError(f"{question!r} is not a question: give (head, relation, None) or (None, relation, tail)")
        head, relation, tail = question
        asked = head is None
        return self._id(tail if asked else head), self._kind(relation), int(asked)

    def _id(self, name: Any) -> int:
        if str(name) not in self._entity:
            raise UnknownNameError(f"{name!r} is not an entity of the model")
        return self._entity[str(name)]

    def _kind(self, name: Any) -> int:
        if str(name) not in self._relation:
            raise UnknownNameError(f"{name!r} is not a relation of the model")
        return self._relation[str(name)]

    def __repr__(self) -> str:
        trained = "not trained" if self._model is None else f"{len(self.entities_)} entities"
        signature = self.signature if self._model is None else self.signature_
        return f"<KnowledgeGraph dim={self.dim}, signature={signature}, {trained}>"


def _json(options: dict[str, Any]) -> str:
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in options.items()}
    try:
        return json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise InvalidOptionError(f"an option is neither a number nor a name: {error}") from error


def _rows(triples: Any) -> list[tuple[Any, Any, Any]]:
    rows = [tuple(row) for row in triples]
    for i, row in enumerate(rows):
        if len(row) != 3:
            raise DataTypeError(f"triple {i + 1} has {len(row)} parts: expected head, relation, tail")
    return rows


def _numbered(parts: Sequence[Any]) -> tuple[list[str], list[str], list[list[tuple[int, int, int]]]]:
    """Names in the order of their appearance, and the parts with numbers in place of names."""
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}

    def number(names: dict[str, int], name: Any) -> int:
        return names.setdefault(str(name), len(names))

    tables = [
        [(number(entities, h), number(relations, r), number(entities, t)) for h, r, t in _rows(part)]
        for part in ([] if part is None else part for part in parts)
    ]
    return list(entities), list(relations), tables
