//! The constants that the search was tuned by, each in one place, and the parts of it that an ablation leaves out.

/// Constants and parts of the search. Work is in units of [`crate::linalg::work`]. What a constant rests on stands beside it: a file
/// of `bench/results`, a part of [`PARTS`] that the suite `ablation` of the benches leaves out, or nothing where neither is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    // Runs: a start and a chain of solvers. Level l is 2^l times as patient as level 0.
    /// Gradients that the first solver of a run may cost at level 0.
    pub run: u64,
    /// Least work of a solver in a run, where gradients cost nothing.
    pub min_run: u64,
    /// Level at which the constants of the solvers are their defaults.
    pub own_level: u32,
    /// Methods that raise a penalty, the constant that does it, and its growth at level 0 (`ladmm_growth.csv`; part `patience`).
    pub growth: [(&'static str, &'static str, f64); 4],
    /// Iterations at level 0 before a method that raises a penalty gives way to the next (part `hand on`).
    pub hand_on: u64,
    /// ‖X − Y‖/√r at which LADMM gives way to the next (`ladmm_growth.csv`; part `near`).
    pub near: f64,
    /// Work of the first solver over that of a later one (part `share`).
    pub share: u64,
    /// Decrease of F in the last half of its work, times |F|, for which a later solver has as much again (parts `again`, `further`).
    pub again: f64,
    /// Decrease of F in a pass, times |F|, below which a run under [`own_level`](Self::own_level) ends.
    pub slow: f64,

    // The race: leaders, then successive halving of all others.
    /// Work of a run at level 0 that takes seconds (parts `eigenvectors first`, `glances`).
    pub long: u64,
    /// Runs that come first (part `five leaders`),
    pub leaders: usize,
    /// with X ≥ 0 and in other families,
    pub leaders_of_others: usize,
    /// and with X ≥ 0 where a run is long (part `four leaders`).
    pub leaders_of_long: usize,
    /// Excess over the best point, times |F|, at which the solver of a leader does not lead from further starts (part `hopeless`).
    pub hopeless: f64,
    /// Work of a run at level 0 from which on a short run decides which leader is second (part `looks`).
    pub looked_at: u64,
    /// Work of the first solver of a quick run over that of the others (part `quick`).
    pub quick_polish: u64,
    /// Work of a run at level 0 over that of a glance (part `glances`).
    pub glance: u64,
    /// Level of runs that a glance finds worth it.
    pub glanced: u32,
    /// Excess over the best point, times |F|, from which on they are not.
    pub far: f64,
    /// Runs in flight together in the race.
    pub in_race: usize,
    /// Work of the local search over that of two runs at level 0 before it (part `search in between`).
    pub search_after_others: u64,
    /// Rounds of halving (part `halving`).
    pub levels: u32,

    // The iterated local search: a move from an elite point, and a polish.
    /// Moves in flight together: enough for four threads.
    pub in_flight: usize,
    /// Failures in a row, times [`in_flight`](Self::in_flight), that end it: nothing can move.
    pub failures: u32,
    /// Elite points (part `elite`),
    pub elite: usize,
    /// and numbers that they may have together where that is fewer.
    pub elite_numbers: usize,
    /// Elite points that components are taken from, and the fewest that are kept.
    pub parents: usize,
    /// Share of fresh starts in the work (part `fresh starts`).
    pub fresh_share: f64,
    /// Excess over the best of the arms with chance in their start, times |F|, up to which one starts afresh.
    pub fresh_margin: f64,
    /// Places of the arms that start afresh, by turns (part `several arms afresh`).
    pub turns: [usize; 6],
    /// Share of the choices of a move that does not look at the past (part `bandit`),
    pub curiosity: f64,
    /// decrease that is hoped for from any move, times |F|,
    pub hope: f64,
    /// and weight of the past after another move of its kind.
    pub memory: f64,
    /// Gradients that a polish may cost,
    pub polish: u64,
    /// those with limits of nonzeros,
    pub polish_of_counts: u64,
    /// and its least work.
    pub min_polish: u64,

    // Moves and starts.
    /// Most rows that are exchanged, as a share of the nonzero ones (part `rows exchanged`).
    pub kick: f64,
    /// Most nonzeros that are exchanged, as a share of all (part `nonzeros exchanged`).
    pub shake: f64,
    /// How far LADMM lowers its penalty: β = L·100^(−u) with u between two numbers (parts of these names),
    pub reheats: [(&'static str, f64, f64); 3],
    /// and its work, in polishes.
    pub reheat: u64,
    /// Rows that a component solved anew is looked for from (part `components from many rows`),
    pub move_rows: usize,
    /// with limits of nonzeros,
    pub counted_rows: usize,
    /// by a start of a problem with such limits,
    pub pool_rows: usize,
    /// and by one where an entry has a price (part `pool`).
    pub priced_rows: usize,
    /// Products of a power method from such a row.
    pub powers: usize,
    /// Components that are tried as the first of a set.
    pub firsts: usize,
    /// Rows from which the number of entries that pay is looked for,
    pub probes: usize,
    /// and the factor from one number to the next.
    pub step: f64,
    /// Most entries that are tried: components with more hardly leave each other free rows.
    pub max_entries: usize,
    /// Components that are refined,
    pub refined: usize,
    /// how often,
    pub refinements: usize,
    /// and most entries that they have then.
    pub max_refined: usize,
    /// Steps in which a component grows (part `grown`).
    pub growths: usize,
    /// Least products of a component with a number of entries,
    pub min_powers: usize,
    /// and most.
    pub max_powers: usize,
    /// Products of a component with uncorrelated scores,
    pub uncorrelated_powers: usize,
    /// and the share of its entries that stays from one to the next.
    pub shrink: f64,
    /// Most variables for which the relaxation is solved for a start (part `relaxed`),
    pub max_relaxed: usize,
    /// and its iterations.
    pub relaxation: u64,

    // The end.
    /// Decrease in a doubling of the work, times |F|, that is worth it.
    pub worth: f64,
    /// Work from which doublings count, and least work of the last descent.
    pub min_search: u64,
    /// Work after which a doubling is over, times the patience of the effort.
    pub stretch: u64,
    /// Starts that must have led to the same F for it to be believed (part `agreement`),
    pub agreed: usize,
    /// and how close, times |F|.
    pub same: f64,
    /// Where fewer have come near it quiet doublings are no end before so many times the work of the first round (part `disputed`;
    /// chosen on three tables of 50 x 300 Gaussian data with ℓ1),
    pub rounds: u64,
    /// or so much work.
    pub disputed: u64,

    // For the ablation.
    /// Parts that are left out, by their names in [`PARTS`].
    pub without: &'static [&'static str],
    /// Work after which the search ends, with one thread.
    pub max_work: Option<u64>,
}

impl Tuning {
    /// What users get.
    pub const DEFAULT: Self = Self {
        run: 500,
        min_run: 30_000_000,
        own_level: 2,
        growth: [
            ("ladmm", "rho", 0.04),
            ("spm", "rho", 0.04),
            ("support", "growth", 0.1),
            ("ep4orth", "growth", 0.2),
        ],
        hand_on: 200,
        near: 1e-3,
        share: 4,
        again: 0.003,
        slow: 1e-5,
        long: 20_000_000_000,
        leaders: 5,
        leaders_of_others: 3,
        leaders_of_long: 4,
        hopeless: 0.01,
        looked_at: 2_000_000_000,
        quick_polish: 8,
        glance: 4,
        glanced: 1,
        far: 0.1,
        in_race: 2,
        search_after_others: 4,
        levels: 3,
        in_flight: 4,
        failures: 8,
        elite: 24,
        elite_numbers: 5_000_000,
        parents: 6,
        fresh_share: 0.2,
        fresh_margin: 0.02,
        turns: [0, 1, 0, 2, 0, 1],
        curiosity: 0.25,
        hope: 1e-6,
        memory: 0.9,
        polish: 150,
        polish_of_counts: 200,
        min_polish: 100_000_000,
        kick: 0.125,
        shake: 0.5,
        reheats: [
            ("penalty lowered a little", 0.0, 0.35),
            ("penalty lowered and raised", 0.35, 0.7),
            ("penalty lowered far", 0.7, 1.0),
        ],
        reheat: 8,
        move_rows: 24,
        counted_rows: 64,
        pool_rows: 512,
        priced_rows: 256,
        powers: 6,
        firsts: 64,
        probes: 16,
        step: 1.5,
        max_entries: 64,
        refined: 256,
        refinements: 4,
        max_refined: 256,
        growths: 40,
        min_powers: 8,
        max_powers: 60,
        uncorrelated_powers: 12,
        shrink: 0.5,
        max_relaxed: 300,
        relaxation: 150,
        worth: 1e-4,
        min_search: 1_000_000_000,
        stretch: 10_000_000_000,
        agreed: 3,
        same: 1e-6,
        rounds: 16,
        disputed: 64_000_000_000,
        without: &[],
        max_work: None,
    };

    /// Is a part there?
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
