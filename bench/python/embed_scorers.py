"""The scorers of `orthopt embed` at equal processor seconds, as the rows of bench/results/embed_scorers.csv.

    python bench/python/embed_scorers.py COMMAND SECONDS SEEDS GRAPH ...

SEEDS is a list such as 0,1,2. GRAPH_train.tsv, GRAPH_valid.tsv and GRAPH_test.tsv are the parts of a graph, COMMAND is the program `orthopt`. A run of five
epochs tells how many fit into SECONDS of one processor, evaluations of valid included. The model is that of the best epoch on valid.
"""

import csv
import json
import resource
import subprocess
import sys

COLUMNS = "graph,options,seed,epochs,best_epoch,processor_seconds,valid_MRR,test_MRR,test_hits_at_1,test_hits_at_10"
OPTIONS = ["", "--scorer ultrae", "--scorer complex"]


def run(command, graph, options, seed, epochs):
    parts = [f"{graph}_train.tsv", "--valid", f"{graph}_valid.tsv", "--test", f"{graph}_test.tsv"]
    words = [command, "embed", *parts, *options.split(), "--epochs", str(epochs), "--seed", str(seed), "--threads", "1", "-q", "--json", "-"]
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # noqa: E731
    begun = used()
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found, used() - begun


if __name__ == "__main__":
    command, limit, seeds, *graphs = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS.split(","))
    for graph in graphs:
        for options in OPTIONS:
            _, five = run(command, graph, options, 0, 5)
            epochs = max(1, round(5 * float(limit) / five))
            for seed in seeds.split(","):
                found, seconds = run(command, graph, options, seed, epochs)
                numbers = [found["valid"]["mrr"], *(found["test"][name] for name in ("mrr", "hits1", "hits10"))]
                out.writerow([graph, options, seed, epochs, found["best_epoch"], f"{seconds:.1f}", *(f"{x:.4f}" for x in numbers)])
                sys.stdout.flush()
