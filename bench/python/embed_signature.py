"""The race of signatures beside the fixed default, at equal numbers of epochs of all models together, as the rows of
bench/results/embed_signature.csv.

    python bench/python/embed_signature.py COMMAND EPOCHS SEEDS GRAPH ...

SEEDS is a list such as 0,1,2. GRAPH_train.tsv, GRAPH_valid.tsv and GRAPH_test.tsv are the parts of a graph, COMMAND is the program `orthopt`. The race of four
models takes 20 epochs of models that do not win, so its winner is trained for EPOCHS - 20.
"""

import csv
import json
import subprocess
import sys

COLUMNS = "graph,seed,signature,epochs,epochs_of_all,chosen,race,best_epoch,valid_MRR,test_MRR,test_hits_at_1,test_hits_at_10"
DIM = 32


def run(command, graph, seed, epochs, more):
    parts = [f"{graph}_train.tsv", "--valid", f"{graph}_valid.tsv", "--test", f"{graph}_test.tsv"]
    words = [command, "embed", *parts, "--scorer", "ultrae", "--per-relation", "none", "--dim", str(DIM), "--epochs", str(epochs), "--seed", str(seed), "--threads", "1", "-q"]
    return json.loads(subprocess.run([*words, "--json", "-", *more], check=True, capture_output=True, text=True).stdout)


def row(graph, seed, signature, found):
    tried = found["race"]["tried"] if found["race"] else []
    of_others = sum(one["epochs"] for one in tried if one["signature"] != found["settings"]["signature"])
    race = " ".join(f"{one['signature']}:{one['mrr']:.4f}@{one['epochs']}" for one in tried)
    numbers = [found["valid"]["mrr"], *(found["test"][name] for name in ("mrr", "hits1", "hits10"))]
    epochs = [found["epochs"], found["epochs"] + of_others]
    return [graph, seed, signature, *epochs, found["settings"]["signature"], race, found["best_epoch"], *(f"{x:.4f}" for x in numbers)]


if __name__ == "__main__":
    command, total, seeds, *graphs = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS.split(","))
    for seed in seeds.split(","):
        for graph in graphs:
            for signature, epochs, more in [
                (str(DIM - 1), int(total), ["--signature", str(DIM - 1)]),
                ("auto", int(total) - 20, ["--signature", "auto"]),
            ]:
                out.writerow(row(graph, seed, signature, run(command, graph, seed, epochs, more)))
                sys.stdout.flush()
