//! Plans of the items: problem, settings, data sets and methods of each table.

use super::datasets::Preparation;
use super::item::{Content, Method, Plan, Second};
use super::training::Training;
use orthopt_embed::PartSizes;

/// Defaults of plans.
const PLAN: Plan = Plan {
    problem: "",
    lambdas: &[],
    start: "identity",
    options: &[],
    preparation: Preparation::NONE,
    datasets: &[],
    ranks: &[],
    seconds: &[],
    methods: &[],
    shares: &[],
    columns: &[],
    second: None,
    numbers: None,
    records: None,
};

const fn of(name: &'static str, solver: &'static str) -> Method {
    Method { name, solver, start: None, options: &[], of_paper: true }
}

/// With constants of its own.
const fn with(name: &'static str, solver: &'static str, options: &'static [&'static str]) -> Method {
    Method { options, ..of(name, solver) }
}

const fn from(start: &'static str, name: &'static str, solver: &'static str) -> Method {
    Method { start: Some(start), ..of(name, solver) }
}

/// A solver beyond the paper's.
const fn ours(solver: &'static str) -> Method {
    Method { of_paper: false, ..of(solver, solver) }
}

/// The library's own choice of solver, start and restarts.
const AUTO: Method = Method { start: Some("auto"), ..ours("auto") };

pub const L0_METHODS: &[Method] = &[
    of("LADMM", "ladmm"),
    of("SPM", "spm"),
    of("OBCD-R", "obcd-r"),
    of("OBCD-SV", "obcd-sv"),
    of("OBCD-OR", "obcd-or"),
    of("LADMM+OBCD-R", "ladmm+obcd-r"),
    of("SPM+OBCD-R", "spm+obcd-r"),
    ours("support+obcd-r"),
    AUTO,
];

pub const NONNEG_METHODS: &[Method] = &[
    of("LADMM", "ladmm"),
    of("SPM", "spm"),
    of("OBCD-R", "obcd-r"),
    of("OBCD-SV", "obcd-sv"),
    of("OBCD-OR", "obcd-or"),
    of("LADMM+OBCD-R", "ladmm+obcd-r"),
    of("SPM+OBCD-R", "spm+obcd-r"),
    AUTO,
];

pub const L1_METHODS: &[Method] = &[
    of("LADMM", "ladmm"),
    of("ADMM", "soc"),
    of("RSubGrad", "rsubgrad"),
    of("ManPG", "manpg"),
    of("OBCD-OR", "obcd-or"),
    of("LADMM+OBCD-R", "ladmm+obcd-r"),
    of("ManPG+OBCD-R", "manpg+obcd-r"),
    ours("manpg-ada+obcd-r"),
    AUTO,
];

const TABLE1_METHODS: &[Method] = &[
    of("LADMM(id)", "ladmm"),
    of("SPM(id)", "spm"),
    from("random", "LADMM(rnd)", "ladmm"),
    from("random", "SPM(rnd)", "spm"),
    of("OBCD-R(id)", "obcd-r"),
    AUTO,
];

/// The columns of the OADMM figures; they differ only in xi of OADMM.
macro_rules! oadmm_methods {
    ($xi:literal) => {
        &[
            with("OADMM-EP", "oadmm-ep", &["--oadmm-ep-xi", $xi]),
            with("OADMM-RR", "oadmm-rr", &["--oadmm-rr-xi", $xi]),
            with("RADMM-I", "radmm", &["--radmm-beta", "100"]),
            with("RADMM-II", "radmm", &["--radmm-beta", "10000"]),
            of("SPGM-EP", "spgm-ep"),
            of("SPGM-RR", "spgm-rr"),
            of("Sub-Grad", "subgrad"),
            ours("oadmm"),
            ours("madmm"),
            ours("manial"),
            ours("oadmm-ep+obcd"),
        ]
    };
}

const NONLINEAR_METHODS: &[Method] = &[
    of("FOForth-GR", "foforth-gr"),
    of("FOForth-P", "foforth-p"),
    of("FOForth-QR", "foforth-qr"),
    of("OptM-QR", "optm-qr"),
    of("OptM-Cayley", "optm-cayley"),
    of("OBCD-SV", "obcd-sv"),
    of("OBCD-OR", "obcd-or"),
    ours("obcd-jacobi"),
    AUTO,
];

const HEVP_METHODS: &[Method] = &[
    of("UMCM", "umcm"),
    of("ADMM", "j-admm"),
    of("CSDM", "csdm"),
    of("GS-JOBCD", "gs-jobcd"),
    of("J-JOBCD", "j-jobcd"),
    of("UMCM+GS-JOBCD", "umcm+gs-jobcd"),
    of("ADMM+GS-JOBCD", "j-admm+gs-jobcd"),
    of("CSDM+GS-JOBCD", "csdm+gs-jobcd"),
];

/// The printed problem has no lower bound: boosts are kept short, and every method makes the same number of iterations.
const HEVP_PRINTED_METHODS: &[Method] = &[
    with("UMCM", "umcm", PRINTED_LIMIT),
    with("ADMM", "j-admm", PRINTED_LIMIT),
    with("CSDM", "csdm", PRINTED_LIMIT),
    with("GS-JOBCD", "gs-jobcd", &["--max-iters", "2000", "--gs-jobcd-mu-max", "0.001"]),
    with("J-JOBCD", "j-jobcd", &["--max-iters", "2000", "--j-jobcd-mu-max", "0.001"]),
];
const PRINTED_LIMIT: &[&str] = &["--max-iters", "2000"];

/// ADMM with a fixed penalty parameter, or one that doubles every five iterations.
const BETA_METHODS: &[Method] = &[
    with("fixed 1e5", "j-admm", &["--j-admm-beta", "1e5", "--j-admm-double", "0"]),
    with("fixed 1e7", "j-admm", &["--j-admm-beta", "1e7", "--j-admm-double", "0"]),
    with("fixed 1e9", "j-admm", &["--j-admm-beta", "1e9", "--j-admm-double", "0"]),
    with("dynamic 1e3", "j-admm", &["--j-admm-beta", "1e3", "--j-admm-double", "5"]),
    with("dynamic 1e5", "j-admm", &["--j-admm-beta", "1e5", "--j-admm-double", "5"]),
    with("dynamic 1e7", "j-admm", &["--j-admm-beta", "1e7", "--j-admm-double", "5"]),
    ours("j-admm"),
];

const HSPP_METHODS: &[Method] = &[
    of("UMCM", "umcm"),
    of("ADMM", "j-admm"),
    of("CSDM", "csdm"),
    of("J-JOBCD", "j-jobcd"),
    of("VR-J-JOBCD", "vr-j-jobcd"),
    of("CSDM+J-JOBCD", "csdm+j-jobcd"),
];

/// The data sets of the OBCD papers.
const OBCD_DATA: &[&str] =
    &["w1a", "TDT2", "20News", "sector", "E2006", "MNIST", "Gisette", "CnnCaltech", "Cifar", "randn"];
const OADMM_DATA: &[&str] = &["w1a", "TDT2", "sector", "MNIST", "Gisette", "CnnCaltech", "Cifar", "randn"];
/// The data sets of the JOBCD paper for hyperbolic eigenvalues, and the number of variables it takes.
const HEVP_DATA: &[&str] =
    &["w1a", "MNIST", "randn10", "randn100", "randn1000", "Cifar", "CnnCaltech", "Gisette", "sector", "TDT2"];
const HEVP_COLUMNS: &[(&str, usize)] = &[("w1a", 290), ("MNIST", 780), ("Cifar", 100)];
/// The data sets of the JOBCD paper for the structural probe, and the number of variables it takes.
const HSPP_DATA: &[&str] =
    &["w1a", "MNIST", "randn100", "randn5000", "Cifar", "CnnCaltech", "Gisette", "20News", "news20"];
const HSPP_COLUMNS: &[(&str, usize)] =
    &[("w1a", 100), ("MNIST", 92), ("randn100", 50), ("randn5000", 100), ("CnnCaltech", 96)];
/// And for the choice of beta.
const BETA_DATA: &[&str] = &["Cifar", "MNIST", "randn1000"];
const BETA_COLUMNS: &[(&str, usize)] = &[("Cifar", 100), ("MNIST", 750)];
/// p/n.
const SHARES: &[f64] = &[0.5, 0.7, 0.9];

/// Of tables 2 to 4 of the OBCD paper.
const RANKS: &[usize] = &[20, 50, 100];
const SECONDS: &[f64] = &[10.0, 20.0, 30.0];
/// Of tables 5 to 8.
const LATER_RANKS: &[usize] = &[10, 20, 100];
const LATER_SECONDS: &[f64] = &[10.0, 30.0, 60.0];

/// A table of the OBCD paper.
pub const fn obcd(
    problem: &'static str,
    lambdas: &'static [f64],
    start: &'static str,
    methods: &'static [Method],
    numbers: &'static str,
) -> Content {
    Content::Runs(obcd_plan(problem, lambdas, start, methods, numbers))
}

const fn obcd_plan(
    problem: &'static str,
    lambdas: &'static [f64],
    start: &'static str,
    methods: &'static [Method],
    numbers: &'static str,
) -> Plan {
    Plan {
        problem,
        lambdas,
        start,
        datasets: OBCD_DATA,
        ranks: RANKS,
        seconds: SECONDS,
        methods,
        numbers: Some(numbers),
        ..PLAN
    }
}

/// Its tables 5 to 8, which have other r and limits; the first one has the violation of the constraints.
pub const fn later(
    problem: &'static str,
    lambdas: &'static [f64],
    start: &'static str,
    methods: &'static [Method],
    numbers: &'static str,
) -> Content {
    let second = if lambdas.is_empty() { Some(Second::Violation) } else { None };
    let plan = obcd_plan(problem, lambdas, start, methods, numbers);
    Content::Runs(Plan { ranks: LATER_RANKS, seconds: LATER_SECONDS, second, ..plan })
}

/// Its table 1 and the figure of it.
pub const fn first_table(lambdas: &'static [f64], records: Option<&'static str>) -> Content {
    Content::Runs(Plan {
        problem: "l0-pca",
        lambdas,
        datasets: OBCD_DATA,
        ranks: &[20],
        seconds: &[30.0],
        methods: TABLE1_METHODS,
        numbers: Some("obcd/table1"),
        records,
        ..PLAN
    })
}

/// Its figures of convergence with lambda 100.
pub const fn convergence(problem: &'static str, methods: &'static [Method]) -> Content {
    Content::Runs(Plan {
        problem,
        lambdas: &[100.0],
        datasets: OBCD_DATA,
        ranks: &[20],
        seconds: &[10.0],
        methods,
        ..PLAN
    })
}

/// Nonlinear eigenvalues. The first version states neither E nor how C^+ of a singular C is formed.
/// With E normal and the pseudoinverse of C = A'A its F_min for lambda 1 come out; those for larger
/// lambda do not.
pub const fn nonlinear(lambdas: &'static [f64], numbers: Option<&'static str>) -> Content {
    Content::Runs(Plan {
        problem: "nonlinear-eig",
        lambdas,
        start: "random",
        options: &["--linear", "randn"],
        datasets: OBCD_DATA,
        ranks: &[10, 20, 50],
        seconds: &[20.0, 30.0, 50.0],
        methods: NONLINEAR_METHODS,
        second: Some(Second::Residual),
        numbers,
        ..PLAN
    })
}

/// Sparse PCA of the OADMM paper. It fixes no r; 20 components as in its code. Columns are centred
/// and of unit norm.
const fn oadmm(rho: &'static [f64], methods: &'static [Method]) -> Content {
    Content::Runs(Plan {
        problem: "dc-pca",
        lambdas: rho,
        start: "random",
        preparation: Preparation { center: true, scale: Some("unit"), ..Preparation::NONE },
        datasets: OADMM_DATA,
        ranks: &[20],
        seconds: &[10.0],
        methods,
        ..PLAN
    })
}

/// Its figures, by rho and the xi that goes with it.
pub const OADMM_FIGURES: [Content; 5] = [
    oadmm(&[50.0], oadmm_methods!("2")),
    oadmm(&[500.0], oadmm_methods!("8")),
    oadmm(&[10.0], oadmm_methods!("1")),
    oadmm(&[100.0], oadmm_methods!("5")),
    oadmm(&[1000.0], oadmm_methods!("10")),
];

/// Hyperbolic eigenvalues; with `normed` variables are centred and of unit norm.
const HEVP: Plan = Plan {
    problem: "hyperbolic-eig",
    start: "random",
    options: &["--ridge", "0.1"],
    preparation: Preparation { features: Some(1000), ..Preparation::NONE },
    datasets: HEVP_DATA,
    columns: HEVP_COLUMNS,
    shares: &[0.5],
    seconds: &[30.0, 60.0, 90.0],
    methods: HEVP_METHODS,
    second: Some(Second::Violation),
    numbers: Some("jobcd/table2"),
    ..PLAN
};

/// Table 2 of the JOBCD paper, and what draws its runs.
pub const fn hevp(records: Option<&'static str>) -> Content {
    Content::Runs(Plan { seconds: &[90.0], records, ..HEVP })
}

/// Table 2 of the JOBCD paper as printed: the other sign, C = A'A, no lower bound.
pub const fn hevp_printed() -> Content {
    Content::Runs(Plan {
        options: &["--reproduction"],
        methods: HEVP_PRINTED_METHODS,
        seconds: &[90.0],
        ..HEVP
    })
}

/// Its table 4, with more signatures, and what draws its runs.
pub const fn hevp_normed(records: Option<&'static str>) -> Content {
    let preparation = Preparation { center: true, scale: Some("unit"), ..HEVP.preparation };
    Content::Runs(Plan { preparation, shares: SHARES, numbers: None, records, ..HEVP })
}

/// Its table 3 and figure 3: the choice of beta in ADMM.
pub const fn beta(records: Option<&'static str>) -> Content {
    Content::Runs(Plan {
        datasets: BETA_DATA,
        columns: BETA_COLUMNS,
        seconds: &[30.0],
        methods: BETA_METHODS,
        numbers: Some("jobcd/table3"),
        records,
        ..HEVP
    })
}

/// The structural probe.
pub const fn probe(records: Option<&'static str>) -> Content {
    Content::Runs(Plan {
        problem: "probe",
        start: "random",
        preparation: Preparation { features: Some(50), center: true, scale: Some("unit") },
        datasets: HSPP_DATA,
        columns: HSPP_COLUMNS,
        shares: SHARES,
        seconds: &[30.0, 60.0, 90.0],
        methods: HSPP_METHODS,
        second: Some(Second::Violation),
        numbers: Some("jobcd/table5"),
        records,
        ..PLAN
    })
}

/// Figures of UltraE; the sizes are those of the JOBCD paper, App. F.2.
pub const fn ultra_e(dataset: &'static str, records: &'static str, by_epoch: bool) -> Content {
    let sizes = match dataset.as_bytes() {
        b"FB15k" => PartSizes { train: 719, test: 308, entities: 135, relations: 22 },
        _ => PartSizes { train: 545, test: 233, entities: 208, relations: 5 },
    };
    Content::Training(Training { dataset, sizes, records, by_epoch })
}
