//! Memory that a problem needs, estimated before it is allocated.

use super::{Kind, ProblemInfo, Request};
use orthopt_core::problem::{PcaData, Storage};
use orthopt_linalg::error::{Error, Result, bytes_in_words};
use orthopt_linalg::message::Message;

/// Matrices of the size of X that every solver keeps at least: X, a gradient, the best X and a step.
const COPIES: f64 = 4.0;

/// Something large, and what would make it smaller.
#[derive(Clone, Debug)]
struct Piece {
    bytes: f64,
    what: String,
    advice: Message,
}

/// Examines what the problem needs to be posed and solved with r components.
///
/// # Errors
/// [`Error::Memory`] where that is more than `max_memory` of the options, or than the system gives.
pub(crate) fn check(info: &ProblemInfo, data: &PcaData<'_>, rank: usize, options: &Request) -> Result<()> {
    let pieces = [quadratic(info, data, rank, options), components(data.ncols(), rank)];
    let together: f64 = pieces.iter().flatten().map(|piece| piece.bytes).sum();
    let largest = pieces.into_iter().flatten().max_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let Some(Piece { what, advice, .. }) = largest else { return Ok(()) };
    let refused = |allowed: String| Error::Memory { what, bytes: as_bytes(together), allowed, advice };
    if let Some(most) = options.memory().filter(|most| together > *most as f64) {
        return Err(refused(format!("{} are allowed", bytes_in_words(most as f64))));
    }
    // what the system does not give shows now, and not in the middle of the work
    let mut room = Vec::<u8>::new();
    match std::hint::black_box(&mut room).try_reserve_exact(as_bytes(together) as usize) {
        Ok(()) => Ok(()),
        Err(_) => Err(refused("the system cannot provide that much".into())),
    }
}

/// Memory of the n × n matrices, or m × m for the probe.
fn quadratic(info: &ProblemInfo, data: &PcaData<'_>, rank: usize, options: &Request) -> Option<Piece> {
    let (m, n) = (rows(data), data.ncols());
    let square = |size: usize, copies: f64| copies * 8.0 * (size as f64).powi(2);
    let given = matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_));
    let fewer = || Message::from("take fewer columns (").option("features").text(")");
    let keep =
        || Message::from("keep the data as they are (").set("storage", "gram").text("), or ").then(fewer());
    let c = |copies, advice| {
        Some(Piece { bytes: square(n, copies), what: format!("C = A'A of {n} variables"), advice })
    };
    match info.kind {
        Kind::Probe => {
            let what = format!("the table of distances of {m} samples");
            let advice = Message::from("take fewer samples");
            Some(Piece { bytes: square(m, 1.0), what, advice })
        }
        // C, and with X and its companions four more of its size
        Kind::HyperbolicEig => c(5.0, fewer()),
        Kind::NonlinearEig if matches!(data, PcaData::SparseGram(_)) => None,
        Kind::Samples(_) => {
            let what = format!("two copies of {m} samples of {n} variables");
            Some(Piece { bytes: 16.0 * m as f64 * n as f64, what, advice: fewer() })
        }
        // C, and where it comes from
        Kind::Procrustes => c(3.0, fewer()),
        Kind::Brockett => c(2.0, fewer()),
        Kind::NonlinearEig => c(4.0, fewer()),
        Kind::Pca | Kind::Composite | Kind::DataFit => match storage(info, data, rank, options) {
            Storage::Dense if given => c(1.0, fewer()),
            Storage::Dense => c(1.0, keep()),
            _ => None,
        },
    }
}

/// How f will keep the data.
fn storage(info: &ProblemInfo, data: &PcaData<'_>, rank: usize, options: &Request) -> Storage {
    let plain = options.penalty.as_deref().unwrap_or(info.penalty) == "none" && options.limit().is_none();
    match plain {
        true => options.storage.unwrap_or_default().for_products(data, rank),
        false => options.storage.unwrap_or_default().for_search(data),
    }
}

/// X and what solvers keep beside it.
fn components(n: usize, rank: usize) -> Option<Piece> {
    let bytes = COPIES * 8.0 * n as f64 * rank as f64;
    let what = format!("X with {rank} components of {n} variables");
    Some(Piece { bytes, what, advice: Message::from("ask for fewer components (").option("rank").text(")") })
}

fn rows(data: &PcaData<'_>) -> usize {
    match data {
        PcaData::Dense(a) | PcaData::Centred(a, _) | PcaData::Gram(a) => a.nrows(),
        PcaData::Sparse(a, _) | PcaData::SparseGram(a) => a.nrows(),
    }
}

fn as_bytes(bytes: f64) -> u64 {
    bytes as u64 // the largest there is, where it is more
}
