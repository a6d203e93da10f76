//! `spiked:M:N:R:NNZ[:SNR[:SEED]]`: samples with R known sparse components.
//!
//! Sample i is a_i = Σ_k √d_k u_ik v_k + e_i, k = 1..R, with u_ik ~ N(0, 1) and e_i ~ N(0, I_N)
//! independent, so that the covariance is I + Σ_k d_k v_k v_kᵀ. The components v_k have NNZ
//! entries ±1/√NNZ each, with random signs, on disjoint random sets of variables: they are
//! orthonormal, and the data set's truth (N × R). Their variances over the noise decrease from
//! SNR (20 unless given): d_k = SNR·(1 − (k − 1)/(2R)), so that all are above SNR/2 and no two
//! are equal.
//!
//! Drawn in this order: the variables of v_1, v_2, ... (a partial shuffle), the signs in the same
//! order, then sample by sample u_i1..u_iR and e_i1..e_iN.

use faer::Mat;

use crate::dataset::{DataSet, zeros};
use crate::error::DataError;
use crate::generate::{Arguments, Random};

pub(super) fn generate(arguments: &mut Arguments<'_>) -> Result<DataSet, DataError> {
    let (samples, variables) = (arguments.count("M")?, arguments.count("N")?);
    let (components, nonzeros) = (arguments.count("R")?, arguments.count("NNZ")?);
    let snr = arguments.positive_or("SNR", 20.0)?;
    let mut random = arguments.seeded()?;
    if components.checked_mul(nonzeros).is_none_or(|needed| needed > variables) {
        return Err(arguments.error(format!(
            "{components} components with {nonzeros} variables each do not fit into {variables} variables \
             without overlap; R times NNZ must be at most N"
        )));
    }
    let source = arguments.source();
    let mut matrix = zeros(&arguments.budget(), samples, variables)?;
    let mut truth = zeros(&arguments.budget(), variables, components)?;
    let loadings = draw_loadings(variables, components, nonzeros, &mut random);
    fill_truth(&mut truth, &loadings);
    let scale = |k| f64::sqrt(snr * (1.0 - k as f64 / (2.0 * components as f64))); // √d_k
    for i in 0..samples {
        let scores: Vec<f64> = (0..components).map(|k| scale(k) * random.normal()).collect();
        for j in 0..variables {
            matrix[(i, j)] = random.normal();
        }
        for loading in &loadings {
            matrix[(i, loading.variable)] += scores[loading.component] * loading.value;
        }
    }
    let mut data = DataSet::new(matrix, source);
    data.truth = Some(truth);
    Ok(data)
}

/// One entry of the components that is not zero.
struct Loading {
    variable: usize,
    component: usize,
    value: f64,
}

fn draw_loadings(variables: usize, components: usize, nonzeros: usize, random: &mut Random) -> Vec<Loading> {
    let mut order: Vec<usize> = (0..variables).collect();
    for at in 0..components * nonzeros {
        order.swap(at, at + random.below(variables - at));
    }
    let chosen = order.into_iter().take(components * nonzeros).enumerate();
    let size = 1.0 / (nonzeros as f64).sqrt();
    chosen
        .map(|(at, variable)| Loading { variable, component: at / nonzeros, value: size * random.sign() })
        .collect()
}

fn fill_truth(truth: &mut Mat<f64>, loadings: &[Loading]) {
    for loading in loadings {
        truth[(loading.variable, loading.component)] = loading.value;
    }
}
