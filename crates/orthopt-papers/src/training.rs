//! Figures that show the training of a knowledge graph (JOBCD paper, App. F.2): methods and settings.

use orthopt_embed::PartSizes;

/// Contents of a figure that shows the training of a knowledge graph.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// The graph, by the paper's name.
    pub dataset: &'static str,
    /// Size of the part of the graph.
    pub sizes: PartSizes,
    /// The item that keeps the runs.
    pub records: &'static str,
    /// True if the curves are over epochs; else over seconds.
    pub by_epoch: bool,
}

/// Update rule of the relations, with its options of `embed`.
#[derive(Debug)]
pub struct Mover {
    /// The paper's name.
    pub name: &'static str,
    options: &'static [&'static str],
}

/// The methods of the paper. It moves the factors of the CS decomposition by PyTorch's Adagrad, whose rate is 0.01.
pub const MOVERS: &[Mover] = &[
    Mover {
        name: "CSDM",
        options: &["--relations", "cs", "--relation-optimiser", "adagrad", "--relation-lr", "0.01"],
    },
    Mover { name: "J-JOBCD", options: &["--rule", "j-jobcd"] },
    Mover { name: "VR-J-JOBCD", options: &["--rule", "vr-j-jobcd"] },
];

/// n, p, delta, k and the rate of the paper; alpha is 1. A triple is two questions: 25 negatives of each are k = 50.
const SETTING: &str = "--scorer ultrae --per-relation none --dim 36 --signature 18 --margin 5 --loss softplus --no-reciprocal --negatives 25 --share 1 \
                       --optimiser adam --lr 5e-4 --eval-every 1";

/// Epochs where only the time ends a run.
const EPOCHS: u64 = 1_000_000;

/// Seed of the choice of facts and of training.
pub const SEED: u64 = 0;

impl Training {
    /// The options of `embed` for a method. A step takes √N facts, the mini-batch of VR-J-JOBCD (paper, Section 2.2), with all
    /// methods: then entities have as many steps with each, and only those of the relations differ.
    pub fn options(&self, mover: &Mover, epochs: Option<u64>) -> Vec<String> {
        let batch = (self.sizes.train as f64).sqrt().round();
        let own = [
            ("--batch", batch.to_string()),
            ("--seed", SEED.to_string()),
            ("--epochs", epochs.unwrap_or(EPOCHS).to_string()),
        ];
        let words = SETTING.split_whitespace().chain(mover.options.iter().copied()).map(String::from);
        words.chain(own.into_iter().flat_map(|(name, value)| [name.to_string(), value])).collect()
    }
}
