//! Loss, gradients and ranks that were computed elsewhere (tests/data/ultrae.json says how).

use orthopt::RowMat;
use orthopt_embed::chunk::Asked;
use orthopt_embed::relation::Relation;
use orthopt_embed::{Answers, Distance, Loss, Metrics, Model, Options, Triple};
use serde_json::Value;

use crate::common::NEVER;

fn golden() -> Value {
    let file: Value = serde_json::from_str(include_str!("../data/ultrae.json")).unwrap();
    file["ultrae"].clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn matrix(value: &Value) -> RowMat {
    let rows = value.as_array().unwrap().len();
    let data = numbers(value);
    RowMat::from_vec(rows, data.len() / rows, data).unwrap()
}

fn triple(value: &Value) -> Triple {
    let id = |k: usize| value[k].as_u64().unwrap() as u32;
    Triple { head: id(0), relation: id(1), tail: id(2) }
}

fn triples(value: &Value) -> Vec<Triple> {
    value.as_array().unwrap().iter().map(triple).collect()
}

fn model(golden: &Value) -> Model {
    let mut options = Options::of(orthopt_embed::Scorer::Ultrae);
    options.per_relation = Vec::new();
    (options.dim, options.signature, options.margin) = (4, 2, 5.0);
    (options.reciprocal, options.loss, options.distance) = (false, Loss::Softplus, Distance::Geodesic);
    let relations = golden["R"].as_array().unwrap().iter().map(|r| Relation::Full(matrix(r))).collect();
    Model::from_parts(&options, (matrix(&golden["U"]), numbers(&golden["b"]), relations)).unwrap()
}

fn close(found: &[f64], expected: &Value, what: &str) {
    let expected = numbers(expected);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < 1e-9, "{what} {k}: {a} is not {b}");
    }
}

#[test]
fn losses_and_gradients() {
    let golden = golden();
    let model = model(&golden);
    close(model.points().data(), &golden["E"], "points");
    let nothing = Answers::default();
    let view = model.view(&nothing);
    let positives = triples(&golden["positives"]);
    let (mut loss, scale) = (0.0, 1.0 / positives.len() as f64);
    let mut to_points = RowMat::zeros(6, 4);
    let (mut to_matrices, mut to_bias) = (vec![RowMat::zeros(4, 4); 2], [0.0; 6]);
    for (positive, negatives) in positives.iter().zip(golden["negatives"].as_array().unwrap()) {
        for (question, answer) in positive.questions() {
            let asked: Asked = model.asked(question, answer);
            // those that replace what is asked for
            let of_side = triples(negatives).into_iter().filter_map(|n| {
                let kept = if question.head { n.tail == positive.tail } else { n.head == positive.head };
                kept.then_some(if question.head { n.head } else { n.tail })
            });
            let negatives: Vec<u32> = of_side.collect();
            let g = view.gradient(&[asked], &negatives);
            assert_eq!(g.loss, view.loss(&[asked], &negatives));
            loss += scale * g.loss;
            let mut add = |id: u32, row: &[f64], bias: f64| {
                to_points.row_mut(id as usize).iter_mut().zip(row).for_each(|(s, g)| *s += scale * g);
                to_bias[id as usize] += scale * bias;
            };
            add(question.known, g.known.row(0), g.known_bias[0]);
            let candidates = negatives.iter().chain([&answer]);
            candidates.enumerate().for_each(|(i, id)| add(*id, g.candidates.row(i), g.candidate_bias[i]));
            for (matrix, g) in g.matrices {
                let sum = &mut to_matrices[matrix as usize];
                sum.data_mut().iter_mut().zip(g.data()).for_each(|(s, g)| *s += scale * g);
            }
        }
    }
    close(&[loss], &golden["loss"], "loss");
    close(to_points.data(), &golden["grad_E"], "gradient of the points");
    close(&to_bias, &golden["grad_b"], "gradient of the biases");
    let matrices: Vec<f64> = to_matrices.iter().flat_map(|m| m.data().to_vec()).collect();
    close(&matrices, &golden["grad_R"], "gradient of the relations");
    let space = model.metric().space;
    for i in 0..6 {
        space.pull_back(model.parameters.row(i), to_points.row_mut(i));
    }
    close(to_points.data(), &golden["grad_U"], "gradient of the parameters");
}

#[test]
fn filtered_ranks() {
    let golden = golden();
    let model = model(&golden);
    let positives = triples(&golden["positives"]);
    let ranks = model.rank(&positives, &Answers::of(&positives), &[true; 6], &NEVER).unwrap();
    let found: Vec<f64> = ranks.ranks.iter().flat_map(|(_, ranks)| *ranks).collect();
    close(&found, &golden["filtered_ranks"], "ranks");
    let Metrics { mrr, hits1, hits3, hits10, .. } = ranks.metrics();
    close(&[mrr], &golden["mrr"], "mrr");
    for (found, k) in [(hits1, "1"), (hits3, "3"), (hits10, "10")] {
        close(&[found], &golden["hits"][k], k);
    }
}
