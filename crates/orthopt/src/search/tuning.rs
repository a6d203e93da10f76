//! What the search was tuned by: its constants, and the parts that an ablation can leave out.

/// Constants and parts of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Parts that are left out, by their names.
    pub without: &'static [&'static str],
    /// Work after which the search ends, with one thread; `None`: no limit.
    pub max_work: Option<u64>,
}

impl Tuning {
    /// What users get.
    pub const DEFAULT: Self = Self { without: &[], max_work: None };

    /// Whether a part is there.
    pub fn has(&self, part: &str) -> bool {
        !self.without.contains(&part)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A part that can be left out.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// Its name.
    pub name: &'static str,
    /// Problems of the ablation that it concerns.
    pub problems: &'static str,
}

const fn part(name: &'static str, problems: &'static str) -> Component {
    Component { name, problems }
}

/// The parts.
pub const PARTS: &[Component] = &[
    part("rows exchanged", "l0 l1 nonneg scad"),
    part("nonzeros exchanged", "counts uncorrelated"),
    part("components solved anew", "l0 l1 nonneg scad counts uncorrelated"),
    part("components of two points", "l0 l1 nonneg scad counts uncorrelated"),
    part("components turned", "counts"),
    part("penalty lowered a little", "l0 l1 nonneg scad"),
    part("penalty lowered and raised", "l0 l1 nonneg scad counts"),
    part("penalty lowered far", "l0 l1 nonneg scad"),
    part("components from many rows", "l0"),
    part("components of all points", "l0"),
    part("bandit", "l0 l1 nonneg scad counts uncorrelated"),
    part("fresh starts", "l0 l1 nonneg scad counts uncorrelated"),
    part("levels of fresh starts", "l0 l1 nonneg scad counts uncorrelated"),
    part("several arms afresh", "l0 l1 nonneg scad counts uncorrelated"),
    part("elite", "l0 l1 nonneg scad counts uncorrelated"),
    part("race", "l0 l1 nonneg scad counts uncorrelated"),
    part("halving", "l0 l1 nonneg scad counts uncorrelated"),
    part("search in between", "l0 l1 nonneg scad counts uncorrelated"),
    part("five leaders", "l0 l1 scad"),
    part("hopeless", "l0"),
    part("looks", "l0"),
    part("quick", "l0 l1 nonneg scad counts"),
    part("settle", "l0 l1 nonneg scad counts uncorrelated"),
    part("further", "l0 l1 scad"),
    part("again", "l0 l1 scad"),
    part("reach", "l0 l1 scad"),
    part("share", "l0 l1 nonneg scad"),
    part("near", "l0 l1 nonneg scad"),
    part("hand on", "l0 l1 nonneg scad counts"),
    part("patience", "l0 l1 nonneg scad counts"),
    part("by turns", "l1"),
    part("sparse starts", "l0 l1 scad nonneg"),
    part("relaxed", "l0"),
    part("grown", "l0 l1 nonneg scad"),
    part("pool", "l0 counts"),
    part("support", "l0"),
    part("spm", "l0 nonneg"),
    part("slpg", "l1"),
    part("manpg-ada", "l1"),
    part("ep4orth", "nonneg"),
    part("varimax", "l0 l1 nonneg scad counts uncorrelated"),
    part("coordinates", "l0 l1 nonneg scad counts uncorrelated"),
    part("pca", "l0 l1 nonneg scad counts uncorrelated"),
    part("random", "l0 l1 scad counts uncorrelated"),
    part("partition", "nonneg"),
    part("deflation", "counts uncorrelated"),
    part("apart", "counts"),
    part("four leaders", "nonneg"),
    part("eigenvectors first", "l0 nonneg"),
    part("glances", "l0"),
    part("agreement", "end"),
    part("disputed", "end"),
];
