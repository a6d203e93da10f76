"""The k-core of a knowledge graph: the entities that are left when those with fewer than k facts of train are removed again and
again, and the facts between them.

    python bench/python/graph_core.py GRAPH 4       core_train.tsv, core_valid.tsv and core_test.tsv of GRAPH_train.tsv.gz, ...
"""

import gzip
import sys
from collections import Counter


def facts(path):
    with gzip.open(path, "rt") as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


def core(train, k):
    """The entities that are left."""
    left = {entity for head, _, tail in train for entity in (head, tail)}
    while True:
        degree = Counter(entity for head, _, tail in train if {head, tail} <= left for entity in (head, tail))
        kept = {entity for entity in left if degree[entity] >= k}
        if kept == left:
            return left
        left = kept


if __name__ == "__main__":
    graph, k = sys.argv[1], int(sys.argv[2])
    parts = {part: facts(f"{graph}_{part}.tsv.gz") for part in ("train", "valid", "test")}
    entities = core(parts["train"], k)
    for part, all_facts in parts.items():
        with open(f"core_{part}.tsv", "w") as out:
            out.writelines("\t".join(fact) + "\n" for fact in all_facts if {fact[0], fact[2]} <= entities)
