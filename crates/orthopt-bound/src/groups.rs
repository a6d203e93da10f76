//! Components with different numbers of nonzeros: one relaxation for those with the same number.

use super::relaxation::relax;
use super::types::{Kind, Options, Progress, Watch};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::error::Result;

/// −F is at most the sum of the bounds of the groups of columns with the same kⱼ: orthogonality between
/// the groups is forgotten, while the counts are not added up. With one group it says nothing
/// new. One relaxation for each different k.
pub(super) fn bound(
    f: &impl Quadratic,
    counts: &[usize],
    lambda: f64,
    known: Progress,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<f64> {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let groups: Vec<&[usize]> = sorted.chunk_by(|a, b| a == b).collect();
    if groups.len() < 2 {
        return Ok(f64::INFINITY);
    }
    let mut sum = 0.0;
    for group in groups {
        let kind = Kind::Total { nonzeros: group.len() * group[0], lambda };
        let options = Options { warm: None, ..options.clone() };
        // what is known of all columns says nothing about a few
        let part = relax(f, group.len(), &kind, known, &options, watch)?.most;
        sum = f64::next_up(sum + part);
    }
    Ok(sum)
}
