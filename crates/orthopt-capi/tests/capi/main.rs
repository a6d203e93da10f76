//! The header, and the programs in `c/`: compiled by cc and run under AddressSanitizer, or valgrind where that does not link.
//! Left out where there is no C compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};
use orthopt_capi as _; // has cargo build the libraries

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the libraries of this profile.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("")
}

const INTRODUCTION: &str = "\
/* orthopt: minimisation of nonsmooth functions under orthogonality constraints, sparse PCA with orthogonal components for one.

   Six functions: orthopt_solve, orthopt_bound, orthopt_certify, orthopt_minimize, orthopt_list, orthopt_free. All but the last
   return a handle that is never null: orthopt_code tells whether it holds a result or an error. What the accessors return lives
   until orthopt_free.

   Options are a JSON object or null: {\"rank\": 3, \"nonzeros\": 5, \"center\": true}. Their names are those of docs/options.md with
   underscores, orthopt_list(\"options\") lists them, and matrices are lists of rows. What does not apply is refused.

   Data stay where they are and are not copied unless they are to be centred, scaled or transposed. Functions may be called
   from several threads at once. The same options and the same seed give the same bits of X, as in the command, Python and R.

   Made by `cargo xtask generate` from crates/orthopt-capi/src. */";

fn header() -> String {
    let renamed = [
        ("Outcome", "orthopt_handle"),
        ("CData", "orthopt_data"),
        ("Matrix", "orthopt_matrix"),
        ("Sparse", "orthopt_sparse"),
        ("Watch", "orthopt_watch"),
        ("Progress", "orthopt_progress"),
        ("Fun", "orthopt_fun"),
    ];
    let mut config = Config {
        language: Language::C,
        header: Some(INTRODUCTION.into()),
        include_guard: Some("ORTHOPT_H".into()),
        cpp_compat: true,
        style: Style::Type,
        documentation_style: DocumentationStyle::C99,
        line_length: 120,
        usize_is_size_t: true,
        ..Config::default()
    };
    config.export.rename = renamed.map(|(from, to)| (from.to_string(), to.to_string())).into();
    let mut builder = Builder::new().with_config(config);
    for file in ["outcome", "watch", "border"] {
        builder = builder.with_src(crate_folder().join(format!("src/{file}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    // what is said of Rust is not for users of C
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_of_c = |line: &&str| !["//", "// # Safety", "// See the [module](self)."].contains(line);
    let lines: Vec<&str> = lines.into_iter().filter(is_of_c).collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_header_is_that_of_the_functions() {
    let (place, text) = (crate_folder().join("include/orthopt.h"), header());
    if std::env::var_os("ORTHOPT_GENERATE").is_some() {
        fs::write(&place, &text).unwrap();
    }
    let same = fs::read_to_string(&place).unwrap_or_default() == text;
    assert!(same, "include/orthopt.h is not what src says: `cargo xtask generate` writes it anew");
}

/// How memory is watched.
enum Checked {
    Sanitizer,
    Valgrind,
}

fn answers(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Compiles and runs a program of `c/`, and returns what it prints; `None` where there is no compiler, or nothing that watches
/// memory.
fn run(name: &str) -> Option<String> {
    if !answers("cc", &["--version"]) {
        eprintln!("c/{name}.c is left out: there is no cc on the PATH");
        return None;
    }
    let work = tempfile::tempdir().unwrap();
    let program = work.path().join(name);
    let source = crate_folder().join(format!("c/{name}.c"));
    let compile = |more: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g"])
            .args(more)
            .arg(&source)
            .arg("-o")
            .arg(&program);
        cc.arg("-I").arg(crate_folder().join("include")).arg("-L").arg(built()).args([
            "-lorthopt_capi",
            "-lm",
            "-pthread",
        ]);
        let output = cc.arg(format!("-Wl,-rpath,{}", built().display())).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let checked = match compile(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]) {
        (true, _) => Checked::Sanitizer,
        (false, why) => {
            let (compiles, error) = compile(&[]);
            assert!(compiles, "{error}");
            if !answers("valgrind", &["--version"]) {
                eprintln!("c/{name}.c is left out: there is neither valgrind nor AddressSanitizer ({why})");
                return None;
            }
            Checked::Valgrind
        }
    };
    let mut command = match checked {
        Checked::Sanitizer => Command::new(&program),
        Checked::Valgrind => {
            let mut valgrind = Command::new("valgrind");
            let leaks =
                ["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"];
            valgrind.args(leaks).arg(&program);
            valgrind
        }
    };
    // cargo has a path on which an older library may lie
    let output =
        command.env_remove("LD_LIBRARY_PATH").env("ASAN_OPTIONS", "detect_leaks=1").output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{said}\n{errors}", output.status);
    Some(said.into_owned())
}

#[test]
fn the_example_finds_three_components_of_five() {
    let Some(said) = run("sparse_pca") else { return };
    assert!(said.contains(", 15 nonzeros\n"), "{said}");
    assert_eq!(said.matches("\ncomponent").count(), 3, "{said}");
    let source = fs::read_to_string(crate_folder().join("c/sparse_pca.c")).unwrap();
    assert!(source.lines().count() <= 40);
}

#[test]
fn wrong_input_is_refused() {
    let Some(said) = run("refused") else { return };
    assert_eq!(said.trim(), "all refused");
}

#[test]
fn threads_bounds_functions_and_ends() {
    let Some(said) = run("runs") else { return };
    assert_eq!(said.trim(), "all as expected");
}

/// The flags of `orthopt.pc.in`, filled in, are those that the programs are compiled with.
#[test]
fn pkg_config_finds_header_and_library() {
    if !answers("pkg-config", &["--version"]) {
        eprintln!("orthopt.pc.in is left out: there is no pkg-config on the PATH");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let template = fs::read_to_string(crate_folder().join("orthopt.pc.in")).unwrap();
    let filled = template.replace("@PREFIX@", "/usr").replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    fs::write(work.path().join("orthopt.pc"), filled).unwrap();
    let ask = |args: &[&str]| {
        let folders = [("libdir", built()), ("includedir", crate_folder().join("include"))];
        let folders = folders.map(|(name, folder)| format!("--define-variable={name}={}", folder.display()));
        let mut command = Command::new("pkg-config");
        let output = command
            .env("PKG_CONFIG_PATH", work.path())
            .args(folders)
            .args(args)
            .arg("orthopt")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    };
    assert_eq!(ask(&["--modversion"]), env!("CARGO_PKG_VERSION"));
    let include = crate_folder().join("include");
    let expected = format!("-I{} -L{} -lorthopt_capi", include.display(), built().display());
    assert_eq!(ask(&["--cflags", "--libs"]).split_whitespace().collect::<Vec<_>>().join(" "), expected);
}
