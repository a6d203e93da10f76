//! Constants are declared once: what the registry says is what solvers and penalties do.

use std::collections::BTreeSet;

use crate::common::gaussian;
use orthopt::Error;
use orthopt::family::{
    Between, Family, Limit, Request, all_constants, all_solvers, check_constants, find_problem, pose,
};
use orthopt::options::{Constant, Constants, Given, Kind, Value};
use orthopt::penalty::PENALTIES;
use orthopt::problem::PcaData;
use orthopt::smooth::{Measure, Order};
use orthopt::solve::{Setting, Solver};
use orthopt::solvers::JobcdOptions;
use orthopt::solvers::SolverOptions;
use orthopt::solvers::obcd::{Candidates, ObcdOptions};
use orthopt_run::family::catalogue::find_constant;
use orthopt_run::family::catalogue::parse_constants;

/// Something in range that is not the default.
fn another(c: &Constant) -> Value {
    let numbers = [0.3, 0.7, 1.7, 3.0, 7.0, -0.5].map(Value::Number);
    let flags = [true, false].map(Value::Flag);
    let fitting = numbers.into_iter().chain(flags).filter_map(|v| c.check(c.name, v).ok());
    fitting.into_iter().find(|v| *v != c.default).unwrap_or_else(|| panic!("{} takes nothing", c.name))
}

/// Things out of range.
fn wrong(c: &Constant) -> Vec<Value> {
    let number = matches!(c.kind, Kind::Number | Kind::Whole | Kind::WholeOr(_));
    let mut values = vec![Value::Number(f64::NAN), Value::Number(f64::INFINITY), Value::Name("much")];
    values.push(if number { Value::Flag(true) } else { Value::Number(0.5) });
    values.extend([-1.0, 2e6, 0.0].map(Value::Number).into_iter().filter(|v| c.check(c.name, *v).is_err()));
    values
}

fn same(setting: &Setting, value: Value) -> bool {
    *setting == Setting::from(value)
}

fn given(option: &str, value: Value) -> SolverOptions {
    let mut constants = Given::new();
    constants.insert(option, value);
    SolverOptions { constants, ..Default::default() }
}

/// Every solver for `p`: its name, its defaults, each of its constants set, and out of range.
fn check<P: Family>(p: &P, seen: &mut BTreeSet<&'static str>) {
    let x0 = p.start(p.recipe().default_start, 0).unwrap();
    for info in p.solvers().iter().filter(|s| (s.handles)(p)) {
        seen.insert(info.name);
        let settings = |o: &SolverOptions| {
            let solver = info.build(p, o).unwrap_or_else(|e| panic!("{}: {e}", info.name));
            assert_eq!(solver.name(), info.name);
            solver.finish(p, solver.init(p, x0.clone()).unwrap()).details.settings
        };
        let defaults = settings(&SolverOptions::default());
        for c in info.constants {
            let (option, key) = (format!("{}-{}", info.name, c.name), c.name.replace('-', "_"));
            assert!(!c.doc.is_empty() && c.check(&option, c.default) == Ok(c.default), "{option}");
            if c.default != Value::Auto {
                assert!(same(&defaults[&key], c.default), "{option}: {:?}", defaults.get(&key));
            }
            let value = another(c);
            let set = settings(&given(&option, value));
            assert!(same(&set[&key], value), "{option} {value}: {:?}", set.get(&key));
            // χ = 0 asks for the bound of the theory
            let asks = option.starts_with("oadmm") && c.name == "chi";
            for value in wrong(c).into_iter().filter(|v| !(asks && *v == Value::Number(0.0))) {
                let error = info.build(p, &given(&option, value)).err().unwrap();
                let Error::InvalidOption { option: named, expected, .. } = &error else { panic!("{error}") };
                assert_eq!((named, expected), (&option, &c.range()), "{value}");
            }
        }
    }
}

#[test]
fn solvers_have_the_constants_that_the_registry_says() {
    let a = gaussian(20, 8, 1);
    let mut seen = BTreeSet::new();
    for name in
        ["l1-pca", "l0-pca", "nonneg-pca", "pca", "dc-pca", "hyperbolic-eig", "probe", "nonlinear-eig"]
    {
        let square = matches!(name, "hyperbolic-eig" | "probe");
        let options = Request { rank: (!square).then_some(2).map(Into::into), ..Default::default() };
        let posed = pose(find_problem(name).unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
        check(&posed.problem, &mut seen);
    }
    for between in [Between::Orthogonal, Between::Uncorrelated, Between::Both] {
        let limit = Some(Limit::Nonzeros(vec![3]));
        let options = Request { rank: Some(2.into()), constraint: Some(between), ..Default::default() }
            .with_limit(limit);
        let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
        check(&posed.problem, &mut seen);
    }
    for (measure, order) in [
        (Measure::Variance, Order::Joint),
        (Measure::Adjusted, Order::Joint),
        (Measure::Adjusted, Order::Sequential),
    ] {
        let limit = Some(Limit::Nonzeros(vec![3]));
        let options = Request {
            rank: Some(2.into()),
            maximise: Some(measure),
            order: Some(order),
            ..Default::default()
        }
        .with_limit(limit);
        let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
        check(&posed.problem, &mut seen);
    }
    let all: BTreeSet<_> = all_solvers().iter().map(|s| s.name).collect();
    assert_eq!(seen, all);
}

#[test]
fn penalties_have_the_shape_that_the_registry_says() {
    for penalty in PENALTIES {
        let plain = format!("{:?}", (penalty.make)(0.7).unwrap());
        let shaped = |option: &str, value: Value| {
            let set: Given = [(option.to_string(), value)].into();
            (penalty.make_shaped)(0.7, &set).map(|h| format!("{h:?}"))
        };
        for c in penalty.shape {
            let option = format!("{}-{}", penalty.name, c.name);
            assert_eq!(shaped(&option, c.default).unwrap(), plain, "{option}");
            assert_ne!(shaped(&option, another(c)).unwrap(), plain, "{option}");
            for value in wrong(c) {
                let error = shaped(&option, value).unwrap_err();
                let Error::InvalidOption { option: named, expected, .. } = &error else { panic!("{error}") };
                assert_eq!((named, expected), (&option, &c.range()));
            }
        }
    }
}

/// Defaults are those of the declarations.
#[test]
fn shared_options_have_one_default() {
    let options = Request::default().options();
    assert_eq!(options.obcd, ObcdOptions::default());
    assert_eq!(options.jobcd, JobcdOptions::default());
    assert_eq!(options.obcd.value("candidates"), Some(Value::Auto));
    let mut set = ObcdOptions::default();
    for c in ObcdOptions::LIST.iter().filter(|c| !matches!(c.kind, Kind::Name(_))) {
        let value = another(c);
        assert!(set.set(c.name, value) && set.value(c.name) == Some(value), "{}", c.name);
    }
    assert!(set.set("candidates", Value::Name("all")) && set.candidates == Some(Candidates::All));
    assert!(!set.set("candidates", Value::Flag(true)) && !set.set("theta", Value::Number(1.0)));
}

#[test]
fn text_becomes_typed_values() {
    let parse = |option: &str, text: &str| {
        parse_constants([(option, text.to_string())]).map(|set| set.get(&option.replace('_', "-")).unwrap())
    };
    assert_eq!(parse("irpg-memory", "7"), Ok(Value::Whole(7)));
    assert_eq!(parse("irpg-memory", "1e2"), Ok(Value::Whole(100)));
    assert_eq!(parse("irpg_memory", "7.0"), Ok(Value::Whole(7)));
    assert_eq!(parse("manpg-t", "auto"), Ok(Value::Auto));
    assert_eq!(parse("manpg-t", " 2 "), Ok(Value::Number(2.0)));
    for text in ["1", "true", "1.0"] {
        assert_eq!(parse("oadmm-rr-bb", text), Ok(Value::Flag(true)));
    }
    let said = |option: &str, text: &str| parse(option, text).unwrap_err().to_string();
    assert_eq!(said("irpg-memory", "7.5"), "irpg-memory is 7.5: expected a whole number from 1 to 1000");
    assert_eq!(said("irpg-memory", "many"), "irpg-memory is many: expected a whole number from 1 to 1000");
    assert_eq!(said("oadmm-rr-bb", "2"), "oadmm-rr-bb is 2: expected true or false");
    assert_eq!(said("irpg-phi", "auto"), "irpg-phi is auto: expected a number > 0");
    assert_eq!(
        said("manpg-ada-tua", "2"),
        "there is no constant 'manpg-ada-tua' (did you mean 'manpg-ada-tau'?); choose one of: manpg-ada-t, manpg-ada-gamma, manpg-ada-delta, manpg-ada-tau"
    );
    assert!(said("nothing", "2").contains("irpg-memory") && said("nothing", "2").contains("mcp-gamma"));
}

#[test]
fn constants_of_something_else_are_refused() {
    let set: Given = [("manpg-t".to_string(), 1.0)].into();
    assert!(check_constants(&set, &["obcd", "manpg"]).is_ok());
    let said = check_constants(&set, &["obcd", "soc"]).unwrap_err().to_string();
    assert_eq!(
        said,
        "manpg-t is a constant of the solver manpg, which is not used here; obcd+soc has soc-beta"
    );
    let names = |wanted: Request| wanted.constants.iter().map(|c| c.0.to_string()).collect::<Vec<_>>();
    let constants: Given =
        [("manpg-t".to_string(), 1.0), ("irpg-phi".into(), 0.2), ("spm-rho".into(), 1.1)].into();
    let wanted = Request { constants, ..Default::default() };
    let runs = ["manpg".to_string(), "obcd+irpg".to_string()];
    // what belongs to no run stays, to be refused by its plan
    assert_eq!(names(wanted.one_of("manpg", &runs)), ["manpg-t", "spm-rho"]);
    assert_eq!(names(wanted.one_of("obcd+irpg", &runs)), ["irpg-phi", "spm-rho"]);
}

#[test]
fn every_option_has_one_owner() {
    let all = all_constants();
    let names: BTreeSet<_> = all.iter().map(|c| c.option.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.iter().all(|c| find_constant(&c.option).unwrap().owner == c.owner));
}
