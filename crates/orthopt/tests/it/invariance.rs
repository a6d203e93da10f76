//! The unit of the data means nothing: with data times 2ᵏ, and λ times 4ᵏ where it is given, X has the same bits, F is
//! scaled exactly, and status, counts, certificate and bound say the same.

use crate::common::{gaussian, sparse, thinned};
use faer::Mat;
use orthopt::RowMat;
use orthopt::bound;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::family::{AnyProblem, Between, Family, Kind, Limit, Request, find_problem, pose};
use orthopt::problem::{PcaData, Storage};
use orthopt::smooth::Measure;
use orthopt::solve::{Setting, Solution, Stopping};

/// Powers of the data: C, F and λ go with twice as many.
const POWERS: [i32; 4] = [-60, -1, 1, 60];
/// The same far from 1, where squares of C are no numbers, and on both sides of where that begins.
const FAR: [i32; 6] = [-270, -250, -66, 66, 250, 256];

/// How the data are given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Dense,
    Wide,
    Sparse,
    SparseForms,
    Gram,
    Chain,
}

/// A problem in the unit 1.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    form: Form,
    options: Request,
    /// Solvers to run, `None` all that there are; an empty name is the search.
    solvers: Option<&'static [&'static str]>,
}

impl Case {
    fn new(name: &'static str, form: Form) -> Self {
        let rank = Some(2).filter(|_| !matches!(name, "hyperbolic-eig" | "probe"));
        let storage = if form == Form::SparseForms { Storage::Dense } else { Storage::Gram };
        Self {
            name,
            form,
            options: Request { rank: rank.map(Into::into), storage: Some(storage), ..Default::default() },
            solvers: None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Request)) -> Self {
        change(&mut self.options);
        self
    }

    fn by(mut self, solvers: &'static [&'static str]) -> Self {
        self.solvers = Some(solvers);
        self
    }

    fn label(&self) -> String {
        let o = &self.options;
        let limit = o.limit().as_ref().map_or(String::new(), |limit| format!(" {limit:?}"));
        let penalty = o.penalty.as_ref().map_or(String::new(), |p| format!(" {p}"));
        format!("{}{penalty}{limit} {:?} {:?}", self.name, o.between(), self.form)
    }
}

/// 2 to the power of k.
fn two(k: i32) -> f64 {
    2f64.powi(k)
}

fn scaled(a: &Mat<f64>, by: f64) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| by * a[(i, j)])
}

/// Calls `then` with the problem of the data times 2ᵏ.
fn posed<T>(case: &Case, k: i32, then: impl FnOnce(&AnyProblem) -> T) -> T {
    let unit = two(k);
    let a = match case.form {
        Form::Sparse | Form::SparseForms => thinned(40, 9, 0.3, 5),
        Form::Wide => gaussian(6, 11, 5),
        _ => Mat::from_fn(30, 9, |i, j| gaussian(30, 9, 5)[(i, j)] * (1.0 + 0.3 * j as f64)),
    };
    let a = scaled(&a, unit);
    let mut options = case.options.clone();
    let square = unit * unit;
    // λ of nonlinear-eig has the unit of the square of C
    let of_lambda = if case.name == "nonlinear-eig" { square * square } else { square };
    options.lambda = options.lambda.map(|lambda| lambda * of_lambda);
    options.radius = options.radius.map(|radius| radius * unit);
    let info = find_problem(case.name).unwrap();
    let target = scaled(&gaussian(a.nrows(), 2, 6), unit);
    options.target = (case.name == "procrustes").then(|| RowMat::from_mat(target.as_ref()).into());
    let samples = matches!(case.form, Form::Dense | Form::Wide | Form::Sparse | Form::SparseForms);
    if !samples || !matches!(info.kind, Kind::Pca | Kind::Composite | Kind::DataFit) {
        options.storage = None;
    }
    if options.penalty.as_deref() == Some("box") {
        options.lambda = None;
    }
    let sparse_a = sparse(&a);
    let c = a.transpose() * &a;
    let c = Mat::from_fn(c.nrows(), c.ncols(), |i, j| c[(i.min(j), i.max(j))]);
    let chain = Mat::from_fn(11, 11, |i, j| square * [2.0, -1.0, 0.0][i.abs_diff(j).min(2)]);
    let chain = sparse(&chain);
    let data = match case.form {
        Form::Dense | Form::Wide => PcaData::Dense(a.as_ref()),
        Form::Sparse | Form::SparseForms => PcaData::Sparse(sparse_a.as_ref(), None),
        Form::Gram => PcaData::Gram(c.as_ref()),
        Form::Chain => PcaData::SparseGram(chain.as_ref()),
    };
    let posed = pose(info, &data, &options).unwrap_or_else(|e| panic!("{} k = {k}: {e}", case.label()));
    then(&posed.problem)
}

/// Report of a run: words and numbers without a unit, and numbers with the unit of F.
#[derive(Clone, Debug, Default)]
struct Said {
    words: Vec<(String, String)>,
    sizes: Vec<(String, f64)>,
    x: Vec<u64>,
}

impl Said {
    fn word(&mut self, what: &str, word: impl std::fmt::Debug) {
        self.words.push((what.into(), format!("{word:?}")));
    }

    fn size(&mut self, what: &str, size: f64) {
        self.sizes.push((what.into(), size));
    }

    /// How it differs from what is said in the unit 1, where F is `square` times smaller.
    fn against(&self, one: &Self, square: f64) -> Vec<String> {
        let mut out = Vec::new();
        if self.words.len() != one.words.len() || self.sizes.len() != one.sizes.len() {
            out.push("says more or less".into());
        }
        for (a, b) in self.words.iter().zip(&one.words).filter(|(a, b)| a != b) {
            out.push(format!("{}: {} for {}", a.0, a.1, b.1));
        }
        for (a, b) in self.sizes.iter().zip(&one.sizes) {
            if (a.1 / square).to_bits() != b.1.to_bits() {
                out.push(format!("{}: {:e} for {:e}", a.0, a.1 / square, b.1));
            }
        }
        if self.x != one.x {
            out.push("X".into());
        }
        out
    }
}

/// A sentence without its numbers with a unit: those written with an exponent or a point.
fn without_units(sentence: &str) -> String {
    let number = |word: &&str| word.contains(|c: char| c.is_ascii_digit()) && word.contains(['.', 'e']);
    sentence.split_whitespace().filter(|word| !number(word)).collect::<Vec<_>>().join(" ")
}

const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

fn bits(x: &RowMat) -> Vec<u64> {
    x.data().iter().map(|v| (v + 0.0).to_bits()).collect()
}

/// A run and all that is to be said of its X.
fn run<P: Family>(p: &P, solver: Option<&str>, max_iters: u64) -> Said {
    let mut said = Said::default();
    let wanted = Request { solver: solver.map(Into::into), seed: Some(3), ..Default::default() };
    let stopping = Stopping { max_iters: Some(max_iters), ..STOPPING };
    let found = p.plan(&wanted).and_then(|plan| {
        let restarts = solver.map(|_| 0);
        plan.run(p, &wanted, &stopping, restarts, &Cancel::never(), &mut [])
    });
    let found: Solution = match found {
        Ok(found) => found,
        Err(error) => {
            said.word("error", without_units(&error.to_string()));
            return said;
        }
    };
    said.x = bits(&found.x);
    said.word("status", found.status);
    said.word("message", without_units(&found.message));
    said.word("iterations", found.iterations);
    said.word("starts", (found.starts, found.best_start));
    said.word("nnz", found.nnz);
    said.word("feasibility", found.feasibility);
    for (name, value) in found.settings.iter().filter(|(_, v)| !matches!(v, Setting::Real(_))) {
        said.word(name, value);
    }
    said.size("F", found.objective.total);
    said.size("f", found.objective.smooth);
    said.size("h", found.objective.nonsmooth);
    said.size("scale", found.scale);
    about(p, &found.x, &mut said);
    let options = bound::Options { iterations: 200, nodes: 20, ..Default::default() };
    // where there is no bound nothing is said of it
    if let Ok(bound) = p.lower_bound(Some(&found.x), &options, &Cancel::never(), &|_| ()) {
        said.word("proof", bound.proof);
        said.word("bound by", (bound.method, bound.end, bound.iterations, bound.nodes, bound.open));
        said.word("gap", bound.gap);
        said.size("bound", bound.value);
        said.word("screening", &bound.relaxation.rows);
    }
    said
}

/// Adds the checks of X.
fn about<P: Family>(p: &P, x: &RowMat, said: &mut Said) {
    if let Some(criticality) = p.criticality(x, &Cancel::never()) {
        said.size("criticality", criticality);
    }
    if let Some(c) = p.block_stationarity(x, Scope::All, &Cancel::never()) {
        said.word("pairs", (c.pairs_checked, c.pairs_total));
        said.word("distance", c.mean_distance);
        said.size("decrease", c.max_decrease);
        said.word("certified", c.holds(STOPPING.tolerance(p.scale(x), p.objective(x).total)));
    }
    said.word("variance", p.explained_variance(x));
}

/// Solvers of the family that take the problem, and the search.
fn solvers<P: Family>(p: &P) -> Vec<Option<&'static str>> {
    p.solvers().iter().filter(|s| (s.handles)(p)).map(|s| Some(s.name)).chain([None]).collect()
}

/// Every difference, in the words of this test.
fn differences(cases: &[Case], powers: &[i32]) -> Vec<String> {
    let mut out = Vec::new();
    for case in cases {
        let names = match case.solvers {
            Some(names) => names.iter().map(|n| Some(*n).filter(|n| !n.is_empty())).collect(),
            None => posed(case, 0, solvers),
        };
        for solver in names {
            let of = |k: i32| posed(case, k, |named| run(named, solver, 400));
            let one = of(0);
            for k in powers.iter().copied() {
                let exponent = match case.name {
                    "ica" => 0,
                    "robust-subspace" => k,
                    "dictionary" => 4 * k,
                    _ => 2 * k,
                };
                let found = of(k).against(&one, two(exponent));
                if !found.is_empty() {
                    let found = found.join("; ");
                    let (label, solver) = (case.label(), solver.unwrap_or("search"));
                    out.push(format!(
                        "{label} {solver} k = {k}: {}",
                        found.chars().take(400).collect::<String>()
                    ));
                }
            }
        }
    }
    out
}

fn no_difference(cases: &[Case]) {
    none_at(cases, &POWERS);
}

fn none_at(cases: &[Case], powers: &[i32]) {
    let found = differences(cases, powers);
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n"));
}

fn penalised(form: Form) -> Vec<Case> {
    let lambda = |share: f64| move |o: &mut Request| o.lambda = Some(share * 25.0);
    let own = |penalty: &'static str| {
        move |o: &mut Request| (o.penalty, o.lambda) = (Some(penalty.into()), Some(12.0))
    };
    vec![
        Case::new("pca", form),
        Case::new("nonneg-pca", form),
        Case::new("l0-pca", form).with(lambda(0.1)),
        Case::new("l1-pca", form).with(lambda(0.5)),
        Case::new("l21-pca", form).with(lambda(0.5)),
        Case::new("mcp-pca", form).with(lambda(0.5)),
        Case::new("scad-pca", form).with(lambda(0.5)),
        Case::new("l1-pca", form).with(own("elastic-net")),
        Case::new("l1-pca", form).with(own("capped-l1")),
        Case::new("l1-pca", form).with(own("box")),
    ]
}

#[test]
fn penalised_pca_of_dense_data() {
    no_difference(&penalised(Form::Dense));
}

#[test]
fn pca_in_every_storage() {
    const FEW: &[&str] = &["", "obcd", "obcd-or", "manpg", "ladmm", "oadmm", "support"];
    let mut cases = Vec::new();
    for form in [Form::Wide, Form::Sparse, Form::SparseForms, Form::Gram] {
        cases.push(Case::new("l0-pca", form).with(|o| o.lambda = Some(1.5)).by(FEW));
        cases.push(Case::new("l1-pca", form).with(|o| o.lambda = Some(3.0)).by(&FEW[..6]));
        cases.push(Case::new("nonneg-pca", form).by(&["", "obcd", "ep4orth"]));
        cases.push(Case::new("pca", form).by(&["", "obcd", "spectral", "optm-qr"]));
        cases.push(Case::new("dc-pca", form).with(|o| o.lambda = Some(0.5)).by(&["", "oadmm"]));
    }
    no_difference(&cases);
}

#[test]
fn defaults_of_lambda() {
    let mut cases = Vec::new();
    for name in ["l0-pca", "l1-pca", "mcp-pca", "scad-pca", "dc-pca", "capped-l1-pca", "fused-pca"] {
        cases.push(Case::new(name, Form::Dense).by(&["oadmm", "obcd", "manpg"]));
    }
    for name in ["l0-pca", "l1-pca"] {
        cases.push(Case::new(name, Form::Dense).with(|o| o.relative_lambda = Some(0.2)).by(&["", "obcd"]));
    }
    no_difference(&cases);
}

#[test]
fn composite_problems() {
    let lambda = |o: &mut Request| o.lambda = Some(0.4);
    let larger = |o: &mut Request| o.lambda = Some(9.0);
    no_difference(&[
        Case::new("dc-pca", Form::Dense).with(lambda),
        Case::new("capped-l1-pca", Form::Dense).with(larger),
        Case::new("fused-pca", Form::Dense).with(larger),
    ]);
}

#[test]
fn limits_of_nonzeros() {
    let limit = |limit: Limit| move |o: &mut Request| o.set_limit(Some(limit));
    let mut cases = vec![
        Case::new("l0-pca", Form::Dense).with(limit(Limit::Nonzeros(vec![3]))),
        Case::new("l0-pca", Form::Dense).with(limit(Limit::Total(7))),
        Case::new("l0-pca", Form::Dense).with(limit(Limit::Variables(4))),
        Case::new("l0-pca", Form::Dense).with(limit(Limit::Knee)),
        Case::new("nonneg-pca", Form::Dense).with(limit(Limit::Nonzeros(vec![3]))),
        Case::new("l0-pca", Form::Gram).with(limit(Limit::Nonzeros(vec![4, 2]))),
        Case::new("l0-pca", Form::Sparse).with(limit(Limit::Total(7))),
    ];
    for between in cases.clone().into_iter().take(1) {
        cases.push(between.with(|o| o.constraint = Some(Between::Uncorrelated)));
    }
    no_difference(&cases);
}

#[test]
fn j_orthogonal_problems() {
    no_difference(&[
        Case::new("hyperbolic-eig", Form::Dense),
        Case::new("hyperbolic-eig", Form::Gram),
        Case::new("hyperbolic-eig", Form::Dense).with(|o| o.reproduction = Some(true)),
        Case::new("probe", Form::Dense).with(|o| o.radius = Some(2.0)),
    ]);
}

#[test]
fn nonlinear_eigenvalues() {
    no_difference(&[
        Case::new("nonlinear-eig", Form::Gram).with(|o| o.lambda = Some(30.0)),
        Case::new("nonlinear-eig", Form::Dense).with(|o| o.lambda = Some(3.0)),
        Case::new("nonlinear-eig", Form::Chain).with(|o| o.lambda = Some(3.0)),
    ]);
}

/// Search and a solver of every kind of problem, where squares of C overflow or vanish.
#[test]
fn numbers_far_from_one() {
    let limit = |limit: Limit| move |o: &mut Request| o.set_limit(Some(limit));
    let lambda = |lambda: f64| move |o: &mut Request| o.lambda = Some(lambda);
    let mut cases = vec![
        Case::new("pca", Form::Wide).by(&["", "spectral"]),
        Case::new("nonneg-pca", Form::Gram).by(&["", "ep4orth"]),
        Case::new("l0-pca", Form::Sparse).with(lambda(1.5)).by(&["", "support"]),
        Case::new("l0-pca", Form::Dense).with(|o| o.relative_lambda = Some(0.2)).by(&["obcd"]),
        Case::new("l1-pca", Form::Dense).with(lambda(12.0)).by(&["", "ladmm"]),
        Case::new("mcp-pca", Form::Dense).with(lambda(12.0)).by(&["obcd"]),
        Case::new("scad-pca", Form::Dense).by(&["obcd", "manpg"]),
        Case::new("dc-pca", Form::Dense).with(lambda(0.4)).by(&["oadmm"]),
        Case::new("hyperbolic-eig", Form::Dense).by(&["", "j-lbfgs"]),
        Case::new("procrustes", Form::Dense).by(&["", "lbfgs"]),
        Case::new("brockett", Form::Dense).by(&["", "lbfgs"]),
        Case::new("ica", Form::Dense).by(&["lbfgs"]),
        Case::new("robust-subspace", Form::Dense).by(&["lbfgs"]),
    ];
    for kept in [Limit::Nonzeros(vec![3]), Limit::Total(7), Limit::Variables(4)] {
        cases.push(Case::new("l0-pca", Form::Dense).with(limit(kept)).by(&[""]));
    }
    for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
        let measured = Case::new("l0-pca", Form::Dense).with(limit(Limit::Nonzeros(vec![3])));
        cases.push(measured.with(|o| o.maximise = Some(measure)).by(&[""]));
    }
    none_at(&cases, &FAR);
    // F of the one and lambda of the other go with the fourth power of the data, which has to be a number as well
    let fourth = [
        Case::new("dictionary", Form::Dense).by(&["lbfgs"]),
        Case::new("nonlinear-eig", Form::Gram).with(lambda(30.0)).by(&["lbfgs"]),
    ];
    none_at(&fourth, &[-250, -66, 66, 250]);
}

/// Where C overflows, or has no digits left, that is said, whatever unit the problem is solved in.
#[test]
fn the_ends_of_the_range_stay_what_they_are() {
    let info = find_problem("pca").unwrap();
    let a = gaussian(30, 9, 5);
    for (k, word) in [(-530, "small"), (511, "large"), (600, "large")] {
        let a = scaled(&a, two(k));
        let error = pose(info, &PcaData::Dense(a.as_ref()), &Request::default()).unwrap_err();
        assert!(error.to_string().contains(word), "{k}: {error}");
    }
}

/// A share of a matrix of numbers far from 1 that is to be checked by others is that of the numbers themselves.
#[test]
fn saved_multipliers_have_the_unit_of_the_data() {
    let dual = |name: &'static str, k: i32| {
        let case = Case::new(name, Form::Dense).with(|o| o.set_limit(Some(Limit::Nonzeros(vec![3]))));
        posed(&case, k, |p| {
            let options = bound::Options { iterations: 200, ..Default::default() };
            let found = p.lower_bound(None, &options, &Cancel::never(), &|_| ()).unwrap();
            let limits = p.limit_dual(None, &Cancel::never()).unwrap().unwrap();
            (p.dual(&found).unwrap(), limits)
        })
    };
    let ((one, limits), k) = (dual("l0-pca", 0), 250);
    for k in [-k, k] {
        let (far, far_limits) = dual("l0-pca", k);
        let same = |a: &RowMat, b: &RowMat, unit: f64| {
            a.data().iter().zip(b.data()).all(|(a, b)| (a / unit).to_bits() == b.to_bits())
        };
        let unit = two(2 * k);
        assert!(same(&far.c, &one.c, unit) && same(&far.z, &one.z, unit), "{k}");
        assert_eq!((far.bound / unit, far.lambda / unit), (one.bound, one.lambda));
        assert!(same(&far_limits.z, &limits.z, unit) && same(&far_limits.a, &limits.a, two(k)), "{k}");
        assert_eq!(far_limits.bound / unit, limits.bound);
    }
}
