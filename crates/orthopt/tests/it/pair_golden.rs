//! The golden values of the 2-row subproblem: the fast searches and their slow twin.

use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::PairPenalty;
use orthopt::penalty::{AnyPenalty, L1, NoPenalty, PENALTIES, Shape, find_penalty};
use orthopt_core::pair::PairModel;
use orthopt_core::pair::circle::Trig;
use orthopt_core::pair::fold::Scratch;
use orthopt_core::pair::slow;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
use serde_json::Value;

fn penalty(name: &str, lambda: f64) -> AnyPenalty {
    let name = if name == "zero" { "none" } else { name };
    let info = PENALTIES.iter().find(|p| p.name == name).expect("a penalty of the library");
    (info.make)(lambda).expect("a valid lambda")
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).expect("valid JSON");
    file["cases"].as_array().expect("cases").clone()
}

/// q(V) = ⟨V, P⟩ + ½tr(VᵀKVW) + h(VZ), straight from the definition.
fn value(m: &PairModel<'_>, h: &impl Nonsmooth, step: &PairMove) -> f64 {
    let v = step.matrix();
    let r = m.z1.len();
    let (mut n1, mut n2) = (vec![0.0; r], vec![0.0; r]);
    step.apply(m.z1, m.z2, &mut n1, &mut n2);
    let k = [[m.k[0], m.k[1]], [m.k[1], m.k[2]]];
    let w = [[m.w[0], m.w[1]], [m.w[1], m.w[2]]];
    let mut q = h.value(&n1) + h.value(&n2);
    for i in 0..2 {
        for j in 0..2 {
            q += v[i][j] * m.p[i][j];
            for a in 0..2 {
                for b in 0..2 {
                    q += 0.5 * v[a][i] * k[a][b] * v[b][j] * w[i][j];
                }
            }
        }
    }
    q
}

#[test]
fn pair_subproblems_by_the_fast_search_and_its_slow_twin() {
    let all = cases(include_str!("../data/pair_subproblems.json"));
    assert_eq!(all.len(), 82);
    for case in &all {
        let id = &case["id"];
        let h = penalty(case["h"].as_str().unwrap(), case["lambda"].as_f64().unwrap());
        let (p, k, z) = (&case["P"], &case["K"], &case["Z"]);
        let p = [numbers(&p[0]), numbers(&p[1])].map(|v| [v[0], v[1]]);
        let (k1, k2) = (numbers(&k[0]), numbers(&k[1]));
        let (z1, z2) = (numbers(&z[0]), numbers(&z[1]));
        let model = PairModel::with_curvature(p, [k1[0], k1[1], k2[1]], &z1, &z2);
        let expected = case["value"].as_f64().unwrap();
        let identity = value(&model, &h, &PairMove::IDENTITY);
        let known = case["value_at_identity"].as_f64().unwrap();
        assert!(
            (identity - known).abs() <= 1e-9 * (1.0 + known.abs()),
            "case {id}: identity {identity} {known}"
        );
        let fast = h.search(&model, &mut Scratch::new(z1.len())).unwrap_or(PairMove::IDENTITY);
        let found = value(&model, &h, &fast);
        assert!(
            (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
            "case {id}: fast {found}, golden {expected}"
        );
        let slow = slow::minimise(&model, &h);
        assert!(
            (slow.value - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
            "case {id}: slow {}, golden {expected}",
            slow.value
        );
        if case["unique"].as_bool().unwrap() {
            let v = fast.matrix();
            for (row, known) in v.iter().zip([numbers(&case["V"][0]), numbers(&case["V"][1])]) {
                assert!(
                    (row[0] - known[0]).abs() < 1e-5 && (row[1] - known[1]).abs() < 1e-5,
                    "case {id}: V {v:?}"
                );
            }
            let branch = if case["branch"] == "rot" { Branch::Rotation } else { Branch::Reflection };
            assert_eq!(fast.branch, branch, "case {id}");
        }
    }
}

#[test]
fn one_angle_problems_by_the_slow_twin() {
    let all = cases(include_str!("../data/o2x2_subproblems.json"));
    assert_eq!(all.len(), 60);
    for case in &all {
        let id = &case["id"];
        let h = penalty(case["h"].as_str().unwrap(), case["lambda"].as_f64().unwrap());
        let (x, y, co) = (numbers(&case["x"]), numbers(&case["y"]), numbers(&case["coeffs"]));
        // c cos² + d cos·sin + e sin² = (c+e)/2 + (c−e)/2 cos 2θ + d/2 sin 2θ
        let p = Trig { a: co[0], b: co[1], a2: 0.5 * (co[2] - co[4]), b2: 0.5 * co[3] };
        let (found, theta) = slow::minimise_angle(&p, &x, &y, &h);
        if case["status"] == "infeasible" {
            assert!(found.is_infinite(), "case {id}: {found} for an infeasible problem");
            continue;
        }
        let (found, expected) = (found + 0.5 * (co[2] + co[4]), case["value"].as_f64().unwrap());
        assert!(
            (found - expected).abs() <= 1e-10 * (1.0 + expected.abs()),
            "case {id}: {found}, golden {expected}"
        );
        if case["unique"].as_bool().unwrap() {
            let known = case["theta"].as_f64().unwrap();
            let apart = ((theta - known) / 2.0).sin().abs();
            assert!(apart < 1e-6, "case {id}: theta {theta}, golden {known}");
        }
    }
}

/// The shape parameter that the file calls q.
fn shape(name: &str, q: Option<f64>) -> Shape {
    let key = match name {
        "mcp" => "mcp-gamma",
        "scad" => "scad-a",
        "capped-l1" => "capped-l1-cap",
        _ => return Shape::new(),
    };
    // the scad of the file is that of Fan and Li
    let weight = (name == "scad").then(|| ("scad-weight".to_string(), 1.0));
    q.map(|q| (key.to_string(), q)).into_iter().chain(weight).collect()
}

#[test]
fn prox_values() {
    let mut seen = 0;
    for case in cases(include_str!("../data/prox_values.json")) {
        let name = case["h"].as_str().unwrap().replace('_', "-");
        let Ok(info) = find_penalty(&name) else {
            assert_eq!(name, "l1-minus-largest-k"); // no separable penalty
            continue;
        };
        seen += 1;
        let lambda = case["lambda"].as_f64().unwrap_or(0.0);
        let h = (info.make_shaped)(lambda, &shape(&name, case["q"].as_f64())).unwrap();
        assert_eq!(h.weak_convexity().is_some(), case["weak_convexity"].is_number(), "{name}");
        if let (Some(w), Some(known)) = (h.weak_convexity(), case["weak_convexity"].as_f64()) {
            assert!((w - known).abs() <= 1e-15, "{name}: W = {w}, golden {known}");
        }
        let mu = case["mu"].as_f64().unwrap();
        let (v, prox, envelope) = (numbers(&case["v"]), numbers(&case["prox"]), numbers(&case["envelope"]));
        for k in 0..v.len() {
            let x = h.prox(v[k], mu);
            let reached = (x - v[k]).powi(2) / (2.0 * mu) + h.entry(x);
            assert!((reached - envelope[k]).abs() < 1e-10, "{name} prox({}) = {x}, golden {}", v[k], prox[k]);
            // where the minimiser is unique
            if h.weak_convexity().is_some() {
                assert!((x - prox[k]).abs() < 1e-10, "{name} prox({}) = {x}, golden {}", v[k], prox[k]);
            }
        }
    }
    assert_eq!(seen, 21);
}

/// The two 2×2 problems of the OBCD paper (Appendix C.1). min ‖V − A‖²_F over O(2) is 5 − 2√5 and is attained at a
/// reflection, the best rotation gives 3; min ‖V − B‖²_F + 5‖V‖₁ is 12, at V = I.
#[test]
fn problems_of_the_paper_with_two_rows() {
    let z = ([1.0, 0.0], [0.0, 1.0]);
    let doubled = |a: [[f64; 2]; 2]| a.map(|row| row.map(|v| -2.0 * v)); // ‖V − A‖² = 2 + ‖A‖² − 2⟨V, A⟩
    let model = PairModel::linear(doubled([[1.0, 0.0], [-1.0, -1.0]]), &z.0, &z.1);
    let best = slow::minimise(&model, &NoPenalty);
    assert!((best.value + 5.0 - (5.0 - 2.0 * 5f64.sqrt())).abs() < 1e-12);
    assert_eq!(best.step.branch, Branch::Reflection);
    let model = PairModel::linear(doubled([[1.0, 0.0], [1.0, 2.0]]), &z.0, &z.1);
    let best = slow::minimise(&model, &L1::new(5.0).unwrap());
    assert!((best.value + 8.0 - 12.0).abs() < 1e-10);
    assert!(best.step.distance_to_identity() < 1e-7);
}
