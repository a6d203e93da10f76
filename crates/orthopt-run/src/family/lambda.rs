//! λ if none is given, or a share of the largest useful one.

use orthopt_core::penalty::LAMBDA_SHARE;
use orthopt_core::smooth::{AnySmooth, Quadratic, Smooth, mean_size};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::{ascending, sort_numbers_down};
use orthopt_linalg::unit::power_of_two;

/// Mean of the `rank` largest Cᵢᵢ: what λ is measured against.
fn mean_of_largest(f: &AnySmooth, rank: usize) -> f64 {
    let mut variances: Vec<f64> = f.diagonal().iter().map(|m| -m).collect();
    sort_numbers_down(&mut variances);
    variances[..rank].iter().sum::<f64>() / rank as f64
}

/// Variables of large variance whose covariances the default λ examines.
const LOOKED_AT: usize = 64;
/// The largest share of the largest |cᵢⱼ| that a default λ is: few entries pay for more.
const MOST: f64 = 0.75;

/// λ, a share of the mean of the r largest −fᵢᵢ (Cᵢᵢ, or Cᵢᵢ/m). It scales with
/// C, as λ must. Penalties with a slope at 0 leave single variables where λ is near the largest |cᵢⱼ| (see
/// [`relative_lambda`]), as it may be for data without much structure and for texts: then it is half of that number. Where components
/// have weights it is as many times as large as these are in the mean.
///
/// Reasons state what is `unit` times what F has, the unit of the user's data.
pub(super) fn default_lambda(
    f: &AnySmooth,
    rank: usize,
    share: f64,
    unit: f64,
    reasons: &mut Vec<Message>,
) -> f64 {
    let weight = f.column_weights().map_or(1.0, mean_size);
    let times =
        if weight == 1.0 { String::new() } else { format!(", times the mean weight {}", rounded(weight, 6)) };
    let mean = mean_of_largest(f, rank);
    let lambda = six_digits(share * weight * mean.max(0.0));
    if share >= LAMBDA_SHARE {
        let mu = largest_of_some(f) * weight;
        if mu > 0.0 && lambda > MOST * mu {
            let lambda = six_digits(share * mu);
            reasons.push(
                format!(
                    "lambda {}: {share} of {}, the largest |c_ij| in the rows of the {LOOKED_AT} variables with \
                     the largest variance; {share} of the mean C_ii would leave one variable per component",
                    unit * lambda,
                    rounded(unit * mu, 6)
                )
                .into(),
            );
            return lambda;
        }
    }
    reasons.push(
        format!(
            "lambda {}: {share} of the mean of the {rank} largest C_ii{times}; a larger one gives fewer nonzeros",
            unit * lambda
        )
        .into(),
    );
    lambda
}

/// λ beside a linear term: a share of the mean over the columns of E of the largest |Eᵢₖ|, above which entries are seen one by one
/// where C is a multiple of the identity; of the mean of the r largest |Cᵢᵢ| where E = 0.
pub(super) fn linear_lambda(
    c: &RowMat,
    e: &RowMat,
    share: f64,
    unit: f64,
    reasons: &mut Vec<Message>,
) -> f64 {
    let (n, r) = (e.nrows(), e.ncols());
    let largest = |k| (0..n).fold(0.0, |most: f64, i| most.max(e.get(i, k).abs()));
    let mean = (0..r).map(largest).sum::<f64>() / r as f64;
    let (mean, of) = if mean > 0.0 {
        (mean, "the largest |E_ik| of each column of E, in the mean".to_string())
    } else {
        let mut diagonal: Vec<f64> = (0..n).map(|i| c.get(i, i).abs()).collect();
        sort_numbers_down(&mut diagonal);
        (diagonal[..r].iter().sum::<f64>() / r as f64, format!("the mean of the {r} largest |C_ii|"))
    };
    let lambda = six_digits(share * mean);
    let shown = unit * lambda;
    reasons.push(format!("lambda {shown}: {share} of {of}; a larger one gives fewer nonzeros").into());
    lambda
}

/// `value` to six digits of what it is in units of the power of two below it, so that 2ᵏ times the value gives 2ᵏ times
/// the result: numbers to be shown and typed again, whatever the unit of the data.
fn six_digits(value: f64) -> f64 {
    let unit = power_of_two(value);
    rounded(value / unit, 6) * unit
}

/// `value` to three significant digits.
pub(super) fn three_digits(value: f64) -> f64 {
    rounded(value, 3)
}

fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// The largest |cᵢⱼ|, i ≠ j, of the variables of largest variance with all others. Cost of 64 products with a vector.
fn largest_of_some(f: &AnySmooth) -> f64 {
    let n = f.nrows();
    let mut some: Vec<usize> = (0..n).collect();
    let diagonal = f.diagonal();
    ascending(&mut some, &|i| diagonal[i]); // of M = −C
    some.truncate(LOOKED_AT);
    let columns = f.apply(&RowMat::from_fn(n, some.len(), |i, k| f64::from(u8::from(i == some[k]))));
    let off = (0..n).flat_map(|i| columns.row(i).iter().zip(&some).filter(move |(_, j)| i != **j));
    off.fold(0.0, |most: f64, (c, _)| most.max(c.abs()))
}

/// Up to this n all entries of C are examined, and those of any C with negative eigenvalues.
const EXACT: usize = 4096;

/// The largest |cᵢⱼ|, i ≠ j, and whether it is this number itself: of many variables an upper bound of it is
/// taken, √(cᵢᵢcⱼⱼ) of the two largest variances. Cost of n products with a vector.
fn largest_off_diagonal(f: &AnySmooth) -> (f64, bool) {
    let n = f.nrows();
    if n > EXACT && f.is_concave() {
        let mut variances: Vec<f64> = f.diagonal().iter().map(|m| m.abs()).collect();
        sort_numbers_down(&mut variances);
        return ((variances[0] * variances[1]).sqrt(), false);
    }
    let mut largest = 0.0f64;
    for first in (0..n).step_by(64) {
        let width = 64.min(n - first);
        let columns = f.apply(&RowMat::from_fn(n, width, |i, k| f64::from(u8::from(i == first + k))));
        for i in 0..n {
            let off = (0..width).filter(|k| first + k != i).map(|k| columns.get(i, k).abs());
            largest = off.fold(largest, f64::max);
        }
    }
    (largest, true)
}

/// The largest useful λ of a penalty, μ the largest |cᵢⱼ| with i ≠ j:
///
/// * `l0`: μ/2. With sₖ nonzeros in xₖ, ½tr(XᵀCX) ≤ ½Σᵢ cᵢᵢ‖eᵢᵀX‖² + ½μΣₖ(‖xₖ‖₁² − 1) and ‖xₖ‖₁² ≤ sₖ, so that
///   from λ = μ/2 on nothing is below the r variables of largest variance.
/// * `l1`: μ. From there on coordinate vectors are local solutions: a turn of eᵢ towards eⱼ by a small angle t lowers f
///   by |cᵢⱼ|t and raises λ‖X‖₁ by λt.
pub(super) fn relative_lambda(
    f: &AnySmooth,
    penalty: &str,
    share: f64,
    unit: f64,
    reasons: &mut Vec<Message>,
) -> Result<f64> {
    let factor = match penalty {
        "l0" => 0.5,
        "l1" => 1.0,
        _ => {
            return Err(Error::Incompatible(
                Message::about("relative-lambda")
                    .text(format!(" is for the penalties l0 and l1, not {penalty}")),
            ));
        }
    };
    if !(share >= 0.0 && share.is_finite()) {
        let (option, value) = ("relative-lambda".into(), share.to_string());
        return Err(Error::InvalidOption { option, value, expected: "a finite number >= 0".into() });
    }
    let (mu, exact) = largest_off_diagonal(f);
    let (most, lambda) = (factor * mu, six_digits(share * factor * mu));
    let about = if exact { "" } else { "at most " };
    let why = if penalty == "l0" {
        "above which every component has one nonzero"
    } else {
        "above which single variables are local solutions"
    };
    let (shown, most) = (unit * lambda, rounded(unit * most, 6));
    reasons.push(format!("lambda {shown}: {share} of lambda_max {about}{most}, {why}").into());
    Ok(lambda)
}

#[cfg(test)]
mod tests {
    use super::six_digits;

    #[test]
    fn digits_do_not_depend_on_a_power_of_two() {
        for value in [0.049_999_999_999_999_9, 183.527_312_9, 1.0f64.next_down(), 7.123_456_789e-11, 3e9] {
            let rounded = six_digits(value);
            assert!((rounded - value).abs() <= 5e-6 * value, "{value} {rounded}");
            for k in [-60, -1, 1, 57] {
                assert_eq!(six_digits(value * 2f64.powi(k)), rounded * 2f64.powi(k), "{value}");
            }
        }
        assert_eq!((six_digits(0.049_999_999_999_999_9), six_digits(0.0)), (0.05, 0.0));
    }
}
