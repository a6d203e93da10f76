//! λ‖X‖₁ through λ‖XXᵀ‖₁,₁ (docs/mathematics.md, section 14).

use super::relaxation::{Root, relax};
use super::types::{Kind, Options, Progress, Watch};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::error::Result;

/// A bound of −F over the X that are no worse than the incumbent, so of all where the incumbent is
/// counted in.
///
/// A unit vector has s = ‖u‖₁ ∈ [1, √n], and s² ≤ 1 + (s − 1)(τ + 1) for s ∈ [1, τ]. So with ‖xⱼ‖₁ ≤ τ,
/// λ‖X‖₁ ≥ λr − λr/(τ + 1) + λ/(τ + 1)·‖XXᵀ‖₁,₁. An X no worse than F has λ‖X‖₁ ≤ ½Σ_r(C) + F,
/// and as every column has ‖xⱼ‖₁ ≥ 1, τ = min(√n, (½Σ_r(C) + F)/λ − (r − 1)).
pub(super) fn bound(
    f: &impl Quadratic,
    r: usize,
    lambda: f64,
    known: Progress,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Root> {
    let mut tau = (f.nrows() as f64).sqrt().next_up();
    if lambda > 0.0
        && let Some(best) = known.incumbent
    {
        let plain = Options { iterations: 0, warm: None, ..options.clone() };
        let most = relax(f, r, &Kind::L0 { lambda: 0.0 }, known, &plain, watch)?.most;
        // rounded up after every operation: the difference may cancel
        let all = ((most + best).next_up() / lambda).next_up();
        tau = tau.min((all - (r as f64 - 1.0)).next_up().max(1.0));
    }
    let share = (lambda / (tau + 1.0).next_up()).next_down().max(0.0);
    let mut root = relax(f, r, &Kind::L1 { lambda: share }, known, options, watch)?;
    let constant = r as f64 * (lambda - share);
    root.most = (root.most - constant * (1.0 - 1e-15)).next_up();
    root.relaxation.constant -= constant;
    root.relaxation.bound = -root.most;
    if let Some(best) = known.incumbent {
        root.most = root.most.max(-best); // better X were examined, no others
    }
    Ok(root)
}
