//! Helpers of the tests.

use orthopt::cancel::Cancel;
use std::path::PathBuf;
use std::sync::LazyLock;

use orthopt_embed::{Graph, Options, Trainer, Triple};

pub static NEVER: LazyLock<Cancel> = LazyLock::new(Cancel::never);

/// A data set that is not part of the repository: in the folder that `ORTHOPT_DATA` names, else in
/// `shared/data` beside the checkout.
pub fn shared(name: &str) -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("ORTHOPT_DATA").map_or_else(beside, PathBuf::from).join(name);
    assert!(path.exists(), "{} does not exist: ORTHOPT_DATA names the folder of data sets", path.display());
    path
}

/// A family tree: three relations (parent, child, sibling) over `people`, some of them held out.
pub fn family(people: u32) -> Graph {
    let mut graph = Graph {
        entities: (0..people).map(|i| format!("person {i}")).collect(),
        relations: ["parent", "child", "sibling"].map(String::from).to_vec(),
        ..Graph::default()
    };
    for i in 1..people {
        let parent = (i - 1) / 3;
        graph.train.push(Triple { head: i, relation: 0, tail: parent });
        let inverse = Triple { head: parent, relation: 1, tail: i };
        match i % 7 {
            3 => graph.valid.push(inverse),
            5 => graph.test.push(inverse),
            _ => graph.train.push(inverse),
        }
        for sibling in (i + 1..people).take_while(|j| (j - 1) / 3 == parent) {
            graph.train.push(Triple { head: i, relation: 2, tail: sibling });
        }
    }
    graph
}

/// Small and quick.
pub fn small() -> Options {
    let mut options = Options::of(orthopt_embed::Scorer::Ultrae);
    options.per_relation = Vec::new();
    (options.dim, options.signature, options.epochs, options.batch) = (8, 7, 6, 40);
    (options.negatives, options.share, options.lr, options.evaluate_every) = (10, 8, 0.1, 2);
    options
}

pub fn trained(graph: Graph, options: &Options) -> Trainer {
    let mut trainer = Trainer::new(graph, options).unwrap();
    trainer.run(None, &NEVER, |_, _| ());
    trainer
}
