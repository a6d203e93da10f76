//! Damaged config files: options, or an error of one line that names the file. What is read can be printed, and read
//! again.

use orthopt_fuzz::{mutated, one_line, pick, run};

use super::{parse, print};

const VALID: [&str; 3] = [
    "problem = 'l0-pca'\ndata = 'builtin:pitprops'\nrank = 2\nlambda = 0.1\nseed = 5\ncenter = true\n",
    "# a comment\nrank = 3\nnonzeros = [3, 4, 5]\nscale = 'unit'\ntol = 1e-9\njson = \"out.json\"\n",
    "solver = 'obcd'\nworking-set = 'greedy-sv'\nalpha = 1e-5\ntime-limit = 2.5\nthreads = 1\nquiet = false\n",
];

#[test]
fn fuzz_config() {
    run("config", 1500, |rng| {
        let (file, other) = (pick(rng, &VALID), pick(rng, &VALID));
        let bytes = mutated(rng, file.as_bytes(), other.as_bytes());
        let Ok(text) = std::str::from_utf8(&bytes) else { return };
        match parse(text, "run.toml") {
            Err(error) => {
                let message = format!("{error:#}");
                one_line(&message);
                assert!(message.contains("run.toml"), "{message}");
            }
            Ok(options) => {
                let printed = print(&options).unwrap();
                assert_eq!(print(&parse(&printed, "again").unwrap()).unwrap(), printed);
            }
        }
    });
}
