//! Constants of solvers and penalties: hidden options with a help of their own.

use crate::common::{Dir, orthopt, stdout};
use orthopt::family::{all_constants, all_penalties, all_solvers};
use orthopt::options::{Kind, Value};

/// Every constant under the registry's name, with its default, and in a config file.
#[test]
fn every_constant_is_an_option() {
    let dir = Dir::new();
    let mut args = vec!["solve".to_string(), "pca".into(), "a.csv".into()];
    for c in all_constants() {
        args.extend([format!("--{}", c.option), c.constant.default.to_string()]);
        if c.constant.default == Value::Auto {
            args.pop();
            args.push("0.5".into());
        }
    }
    args.push("--print-config".into());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let config = stdout(&mut dir.orthopt(&args));
    assert!(all_constants().iter().all(|c| config.contains(&format!("\n{} = ", c.option))), "{config}");
    dir.write("run.toml", &config);
    assert_eq!(stdout(&mut dir.orthopt(&["solve", "--config", "run.toml", "--print-config"])), config);
}

#[test]
fn values_out_of_range_are_refused_with_the_range() {
    let dir = Dir::new();
    for c in all_constants() {
        let text = if c.constant.kind == Kind::Flag { "2" } else { "nan" };
        let (option, range) = (format!("--{}={text}", c.option), c.constant.range());
        let expected = format!("{} is {text}: expected {range}", c.option).to_lowercase();
        let output = dir.orthopt(&["solve", "pca", "a.csv", &option]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap().to_lowercase();
        assert!(output.status.code() == Some(2) && said.contains(&expected), "{said}");
    }
}

#[test]
fn a_config_file_with_an_unknown_constant_is_refused() {
    let dir = Dir::new();
    dir.write("run.toml", "problem = 'pca'\ndata = 'builtin:pitprops'\n[constants]\nmanpg-tt = 1\n");
    let parts = ["there is no constant 'manpg-tt'", "manpg-t, manpg-gamma, manpg-delta"];
    dir.fails_in_one_line(&["solve", "--config", "run.toml"], 2, &parts);
}

#[test]
fn a_constant_of_a_solver_that_does_not_run_is_refused() {
    let dir = Dir::new();
    let args = ["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--solver", "obcd", "--manpg-t", "1"];
    let parts =
        ["manpg-t is a constant of the solver manpg, which is not used here", "obcd has no constants"];
    dir.fails_in_one_line(&args, 2, &parts);
    let args = ["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--mcp-gamma", "1"];
    dir.fails_in_one_line(&args, 2, &["mcp-gamma is a constant of the penalty mcp", "l1 has no constants"]);
    let compare = ["compare", "l1-pca", "builtin:pitprops", "-r", "2", "--max-iters", "5", "--solvers"];
    let ok = [&compare[..], &["obcd,manpg", "--manpg-t", "0.125", "--json", "-"]].concat();
    let object: serde_json::Value = serde_json::from_str(&stdout(&mut dir.orthopt(&ok))).unwrap();
    assert_eq!(
        object.pointer("/results/1/constants/manpg-t").or(object.pointer("/1/constants/manpg-t")).unwrap(),
        0.125
    );
    let wrong = [&compare[..], &["obcd,manpg", "--soc-beta", "1"]].concat();
    dir.fails_in_one_line(&wrong, 2, &["soc-beta is a constant of the solver soc"]);
}

#[test]
fn types_show_in_reports() {
    let dir = Dir::new();
    let args = ["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--max-iters", "3", "--restarts", "0"];
    let object = dir.json(&[&args[..], &["--solver", "irpg", "--irpg-memory", "5"]].concat());
    assert_eq!(object["constants"]["irpg-memory"], serde_json::json!(5));
    let object = dir.json(&[&args[..], &["--solver", "oadmm-rr", "--oadmm-rr-qr", "true"]].concat());
    assert_eq!(object["constants"]["oadmm-rr-qr"], true);
    assert_eq!(object["constants"]["oadmm-rr-bb"], false);
}

#[test]
fn presets_keep_their_names() {
    let dir = Dir::new();
    for name in ["obcd-sv", "obcd-jacobi", "manpg-ada", "oadmm-rr", "spgm-ep"] {
        let args = ["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--max-iters", "3", "--solver", name];
        assert_eq!(dir.json(&args)["solver"], name);
        let chain = format!("{name}+obcd");
        let args =
            ["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--max-iters", "30", "--solver", &chain];
        let settings = dir.json(&args)["settings"].clone();
        assert!(settings.get(format!("{name}.status")).is_some(), "{settings}");
    }
}

#[test]
fn help_fits_and_lists_have_the_rest() {
    for command in ["solve", "bound", "path", "compare", "certify", "embed"] {
        let short = stdout(&mut orthopt(&[command, "--help"]));
        assert_eq!(short, stdout(&mut orthopt(&[command, "-h"])));
        assert!(short.lines().count() <= 106, "{command}: {} lines", short.lines().count());
    }
    for command in ["solve", "bound", "path", "compare"] {
        let short = stdout(&mut orthopt(&[command, "--help"]));
        assert!(short.lines().take(20).any(|l| l.contains("--help") || l.contains("--nonzeros")), "{short}");
        let long = stdout(&mut orthopt(&[command, "--help-all"]));
        assert!(long.contains("--storage") && !short.contains("--storage"), "{command}");
    }
    let help = stdout(&mut orthopt(&["solve", "-h"]));
    assert!(help.contains("--help-constants") && !help.contains("--manpg-gamma"), "{help}");
    let all = stdout(&mut orthopt(&["solve", "--help-constants"]));
    assert!(all.starts_with("manpg: "), "{}", all.lines().next().unwrap_or_default());
    assert!(all_constants().iter().all(|c| all.contains(&format!("--{} ", c.option))));
    for solver in all_solvers() {
        let text = stdout(&mut orthopt(&["list", "solver", solver.name]));
        assert!(text.starts_with(&format!("{}: {}", solver.name, solver.doc)), "{text}");
        for c in solver.constants {
            let parts =
                [format!("--{}-{} ", solver.name, c.name), c.default.to_string(), c.range(), c.doc.into()];
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
    }
    for penalty in all_penalties() {
        let text = stdout(&mut orthopt(&["list", "penalty", penalty.name]));
        assert!(penalty.constants.iter().all(|c| text.contains(c.doc) && text.contains(c.symbol)), "{text}");
    }
    assert!(stdout(&mut orthopt(&["list", "solver", "obcd"])).contains("--working-set"));
    Dir::new().fails(&["list", "solver", "magic"], 2, &["there is no solver 'magic'"]);
    Dir::new().fails(&["list", "solver"], 2, &["<NAME>"]);
    Dir::new().fails(&["list", "solvers", "obcd"], 2, &["takes no name"]);
}
