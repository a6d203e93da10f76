//! The diagonal of J.

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// The diagonal of J: n signs in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    signs: Vec<f64>,   // Jᵢᵢ
    plus: Vec<usize>,  // where it is 1
    minus: Vec<usize>, // where it is −1
}

fn invalid(value: String, expected: String) -> Error {
    Error::InvalidOption { option: "signature".into(), value, expected }
}

impl Signature {
    /// p ones, then n − p minus ones.
    ///
    /// # Errors
    /// p > n.
    pub fn leading(p: usize, n: usize) -> Result<Self> {
        if p > n {
            return Err(invalid(p.to_string(), format!("at most the number of variables, {n}")));
        }
        Ok(Self::of((0..n).map(|i| if i < p { 1.0 } else { -1.0 }).collect()))
    }

    /// Any order of signs.
    ///
    /// # Errors
    /// An entry that is neither 1 nor −1.
    pub fn from_signs(signs: &[f64]) -> Result<Self> {
        match signs.iter().position(|s| s.abs() != 1.0) {
            Some(k) => {
                let expected = format!("1 or -1 as entry {} (counted from 1)", k + 1);
                Err(invalid(signs[k].to_string(), expected))
            }
            None => Ok(Self::of(signs.to_vec())),
        }
    }

    /// Reads `P`, the number of leading ones among n signs or, where it is below 1 (`0.7`), their share,
    /// or a list of n signs (`1 -1 1`, also `+`, `-`, separated by white space or commas).
    ///
    /// # Errors
    /// P > n, a list of another length than n, an entry that is not a sign.
    pub fn parse(text: &str, n: usize) -> Result<Self> {
        let words: Vec<&str> =
            text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect();
        if let [word] = words[..]
            && let Ok(p) = word.parse::<usize>()
            && !word.starts_with('+')
        {
            return Self::leading(p, n);
        }
        if let [word] = words[..]
            && let Ok(share) = word.parse::<f64>()
            && share > 0.0
            && share < 1.0
        {
            return Self::leading((share * n as f64).round() as usize, n);
        }
        let mut signs = Vec::with_capacity(words.len());
        for (k, word) in words.iter().enumerate() {
            signs.push(match *word {
                "+" | "1" | "+1" | "1.0" | "+1.0" => 1.0,
                "-" | "-1" | "-1.0" => -1.0,
                _ => {
                    let expected = format!("1 or -1 as entry {} (counted from 1)", k + 1);
                    return Err(invalid((*word).into(), expected));
                }
            });
        }
        if signs.len() != n {
            return Err(invalid(
                format!("a list of {} signs", signs.len()),
                format!("one sign for each of the {n} variables, or the number of leading ones"),
            ));
        }
        Ok(Self::of(signs))
    }

    fn of(signs: Vec<f64>) -> Self {
        let (plus, minus) = (0..signs.len()).partition(|i| signs[*i] > 0.0);
        Self { signs, plus, minus }
    }

    /// n.
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// True if n = 0.
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// Jᵢᵢ.
    #[inline(always)]
    pub fn sign(&self, i: usize) -> f64 {
        self.signs[i]
    }

    /// All Jᵢᵢ.
    pub fn signs(&self) -> &[f64] {
        &self.signs
    }

    /// The indices with Jᵢᵢ = 1, ascending; their number is p.
    pub fn plus(&self) -> &[usize] {
        &self.plus
    }

    /// The indices with Jᵢᵢ = −1, ascending.
    pub fn minus(&self) -> &[usize] {
        &self.minus
    }

    /// True if rows i and j have different signs: their plane rotations are hyperbolic.
    #[inline(always)]
    pub fn mixed(&self, i: usize, j: usize) -> bool {
        self.signs[i] != self.signs[j]
    }

    /// True if one sign only occurs: the group is the orthogonal group, and compact.
    pub fn is_definite(&self) -> bool {
        self.plus.is_empty() || self.minus.is_empty()
    }

    /// JX.
    pub fn times(&self, x: &RowMat) -> RowMat {
        RowMat::from_fn(x.nrows(), x.ncols(), |i, k| self.signs[i] * x.get(i, k))
    }

    /// XJ.
    pub fn times_right(&self, x: &RowMat) -> RowMat {
        RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k) * self.signs[k])
    }

    /// Description for users: `30 of 50` and whether it is sorted.
    pub fn describe(&self) -> String {
        let sorted = self.signs.windows(2).all(|w| w[0] >= w[1]);
        let order = if sorted { "" } else { ", not sorted" };
        format!("{} ones and {} minus ones{order}", self.plus.len(), self.minus.len())
    }
}
