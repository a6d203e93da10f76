//! Every option beside every problem that refuses it: a refusal never says that the option is for the problem that it
//! refuses, and following its advice gives an answer.

use faer::Mat;
use orthopt::cancel::Cancel;
use orthopt::family::{
    Call, Case, Limit, PROBLEMS, Plan, ProblemInfo, RankRule, Request, Run, find_problem, pose,
};
use orthopt::linear_map::AnyMap;
use orthopt::problem::{Between, PcaData};
use orthopt::request::{OPTIONS, Rank};
use orthopt::smooth::Measure;
use orthopt::solve::Stopping;
use orthopt::{Error, RowMat};

/// Twelve rows of six columns.
fn rows() -> Mat<f64> {
    Mat::from_fn(12, 6, |i, j| ((7 * i + 3 * j * j + i * j) % 11) as f64 - 5.0)
}

/// What users ask for beside the name of a problem.
fn settings() -> Vec<Request> {
    let plain = Request { rank: Some(2.into()), ..Request::default() };
    let limited = |limit: Limit| plain.clone().with_limit(Some(limit));
    let nonzeros = || limited(Limit::Nonzeros(vec![3]));
    let penalty = |name: &str| Request { penalty: Some(name.into()), ..plain.clone() };
    let differences = || AnyMap::parse("differences").ok();
    vec![
        plain.clone(),
        Request { rank: None, ..plain.clone() },
        Request { lambda: Some(0.5), ..plain.clone() },
        Request { rank: Some(Rank::By(RankRule::Auto)), ..plain.clone() },
        nonzeros(),
        limited(Limit::Total(5)),
        limited(Limit::Variables(3)),
        Request { lambda: Some(0.5), ..nonzeros() },
        Request { map: differences().map(Into::into), ..plain.clone() },
        Request { map: differences().map(Into::into), ..nonzeros() },
        Request { map: differences().map(Into::into), ..penalty("l1") },
        penalty("l1"),
        penalty("mcp"),
        penalty("l1-largest-k"),
        penalty("l1").with_limit(Some(Limit::Nonzeros(vec![3]))),
        Request { constraint: Some(Between::Uncorrelated), ..nonzeros() },
        Request { constraint: Some(Between::Uncorrelated), ..penalty("l1") },
        Request { maximise: Some(Measure::Adjusted), ..nonzeros() },
    ]
}

/// A refusal contradicts itself where it says that the option is for the problem by its name.
fn agrees_with_itself(said: &str, problem: &str) {
    let Some((_, scope)) = said.split_once(" it is for ") else { return };
    let mut words = scope.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    assert!(words.all(|word| word != problem), "{problem}: {said}");
}

/// The setting that a refusal proposes: without an option, or with one more.
fn followed(said: &str, option: &str, asked: &Request) -> Vec<Request> {
    let without = |name: &str| {
        let mut left = asked.clone();
        match name {
            "penalty" => left.penalty = None,
            "map" => left.map = None,
            "lambda" => left.lambda = None,
            "constraint" => left.constraint = None,
            "maximise" => left.maximise = None,
            "nonzeros" | "total-nonzeros" | "variables" => left.set_limit(None),
            _ => {}
        }
        left
    };
    let mut all = vec![without(option)];
    if let Some((_, other)) =
        said.split_once(" beside option `").filter(|_| said.ends_with("one of them out"))
    {
        all.push(without(other.split('`').next().unwrap()));
    }
    for (given, limit) in [("nonzeros", Limit::Nonzeros(vec![3])), ("total-nonzeros", Limit::Total(5))] {
        if said.contains(&format!("give option `{given}` too")) {
            all.push(asked.clone().with_limit(Some(limit)));
        }
    }
    all
}

fn data<'a>(a: &'a Mat<f64>, c: &'a Mat<f64>, gram: bool) -> PcaData<'a> {
    if gram { PcaData::Gram(c.as_ref()) } else { PcaData::Dense(a.as_ref()) }
}

/// Runs what is asked for a moment, or says why it is refused.
fn runs(info: &'static ProblemInfo, data: &PcaData<'_>, asked: &Request) -> Result<Run, Error> {
    let (posed, wanted) = (pose(info, data, asked)?, Request::default());
    let plan: Plan<_> = orthopt::family::Family::plan(&posed.problem, &wanted)?;
    let stopping = Stopping { max_iters: Some(2), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let found = plan.run(&posed.problem, &wanted, &stopping, Some(0), &Cancel::never(), &mut [])?;
    assert!(found.objective.total.is_finite(), "{}", info.name);
    Ok(Run::of(&posed.problem, &plan, None))
}

#[test]
fn no_refusal_contradicts_itself_and_its_advice_runs() {
    let a = rows();
    let c = a.transpose() * &a;
    let (mut refused, mut followed_up) = (0, 0);
    for info in PROBLEMS {
        for (gram, asked) in
            [false, true].into_iter().flat_map(|gram| settings().into_iter().map(move |s| (gram, s)))
        {
            let data = data(&a, &c, gram);
            let case = Case::new(info, &asked).of_gram(gram).in_call(Call::Solve);
            let given = asked.given();
            let ran = match case.check(given.iter().copied()) {
                Ok(()) => runs(info, &data, &asked),
                Err(error) => Err(error),
            };
            let case = match &ran {
                Ok(run) => case.run_by(run.clone()),
                Err(error) => {
                    agrees_with_itself(&error.to_string(), info.name);
                    case
                }
            };
            for entry in OPTIONS {
                let Err(error) = case.check([entry.name]) else { continue };
                let said = error.to_string();
                assert!(matches!(error, Error::Incompatible(_)), "{said}");
                assert!(said.contains(&format!("option `{}`", entry.name)), "{said}");
                agrees_with_itself(&said, info.name);
                refused += 1;
                for next in followed(&said, entry.name, &asked) {
                    let case = Case::new(info, &next).of_gram(gram).in_call(Call::Solve);
                    let more = next.given().len() > given.len() && said.contains(" too, or ");
                    let keeps = next.given().contains(&entry.name) || more;
                    if keeps {
                        case.check([entry.name]).unwrap_or_else(|error| panic!("{said}: {error}"));
                    }
                    if case.check(next.given()).is_ok() {
                        followed_up += 1;
                    } else {
                        // something else that is asked is refused by itself
                        assert!(
                            given.iter().filter(|name| **name != entry.name).any(|name| {
                                Case::new(info, &asked).of_gram(gram).check([*name]).is_err()
                            }),
                            "{}: {said}",
                            info.name
                        );
                    }
                }
            }
        }
    }
    assert!(refused > 2000 && followed_up > 1500, "{refused} refusals, {followed_up} followed");
}

/// Every setting that no option refuses runs: leaving out what is refused gives an answer.
#[test]
fn what_is_not_refused_runs() {
    let a = rows();
    let c = a.transpose() * &a;
    for info in PROBLEMS {
        let own = Request::default(); // hyperbolic problems have no rank, procrustes has a target
        let needs_target = info.name == "procrustes";
        for gram in [false, true] {
            let target = (needs_target && !gram).then(|| RowMat::from_fn(12, 2, |i, k| (i + k) as f64));
            let linear =
                (needs_target && gram).then(|| orthopt::family::LinearInput::parse("randn").unwrap());
            let asked =
                Request { target: target.map(Into::into), linear: linear.map(Into::into), ..own.clone() };
            match runs(info, &data(&a, &c, gram), &asked) {
                Ok(_) => {}
                Err(error) => {
                    assert!(gram && error.to_string().contains("samples"), "{}: {error}", info.name)
                }
            }
        }
    }
}

/// The words of the reasons that are not a problem: another option, a missing one, the data.
#[test]
fn a_refusal_names_what_is_in_the_way() {
    let l0 = find_problem("l0-pca").unwrap();
    let limited = Request::default().with_limit(Some(Limit::Nonzeros(vec![5])));
    let weighed = Request { lambda: Some(0.1), ..Request::default() };
    let said = |name: &str, options: &Request, gram: bool, option: &str| {
        let case = Case::new(find_problem(name).unwrap(), options).of_gram(gram).in_call(Call::Solve);
        case.check([option]).unwrap_err().to_string()
    };
    let l1 = said("l1-pca", &limited, true, "nonzeros");
    assert_eq!(
        l1,
        "option `nonzeros` does not apply to l1-pca: it is for l0-pca, nonneg-pca and pca without a linear map; leave it out"
    );
    let order = said("l0-pca", &weighed, true, "order");
    assert_eq!(
        order,
        "option `order` needs a number of nonzeros: give option `nonzeros` too, or leave it out"
    );
    let total = said("l0-pca", &weighed, true, "min-nonzeros");
    assert_eq!(
        total,
        "option `min-nonzeros` needs a total of nonzeros: give option `total-nonzeros` too, or leave it out"
    );
    let stability = said("l0-pca", &limited, true, "stability");
    assert_eq!(stability, "option `stability` needs samples (rows), but the data are C itself; leave it out");
    let mapped = Request { map: AnyMap::parse("differences").ok().map(Into::into), ..limited };
    let map = said("l0-pca", &mapped, true, "map");
    assert_eq!(map, "option `map` does not apply beside option `nonzeros`: leave one of them out");
    let solver = Request { solver: Some("obcd".into()), ..Request::default() };
    let c = Mat::from_fn(6, 6, |i, j| if i == j { 2.0 } else { 0.5 });
    let limit = Some(Limit::Nonzeros(vec![3]));
    let asked = Request { rank: Some(2.into()), maximise: Some(Measure::Variance), ..Request::default() }
        .with_limit(limit);
    let posed = pose(l0, &PcaData::Gram(c.as_ref()), &asked).unwrap();
    let said = orthopt::family::Family::plan(&posed.problem, &solver).unwrap_err().to_string();
    assert!(
        said.contains("not for PCA problems with limits on nonzeros: choose one of exchange, ladmm"),
        "{said}"
    );
    assert!(!said.contains("for PCA problems,") && !said.contains("for PCA problems;"), "{said}");
}
