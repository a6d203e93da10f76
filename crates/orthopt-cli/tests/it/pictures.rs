//! Pictures of a result, and the page that holds them all.

use std::process::Command;

use crate::common::Dir;

/// Four groups of samples, six variables with names that HTML and SVG must escape.
fn table(dir: &Dir, variables: usize) {
    let value = |i: usize, j: usize| {
        let group = (i % 4) as f64;
        group * ((j % 3) as f64 - 1.0) + ((i * 7 + j * 13) as f64 * 0.83).sin() + j as f64
    };
    let name = |j: usize| if j == 0 { "a<b & c".into() } else { format!("v{j}") };
    let mut text = (0..variables).map(name).collect::<Vec<_>>().join(",") + "\n";
    let mut labels = String::new();
    for i in 0..40 {
        text += &((0..variables).map(|j| value(i, j).to_string()).collect::<Vec<_>>().join(",") + "\n");
        labels += &format!("group <{}>\n", i % 4);
    }
    dir.write("t.csv", text);
    dir.write("g.txt", labels);
}

const SOLVE: [&str; 10] =
    ["solve", "l0-pca", "t.csv", "--scale", "std", "--labels", "g.txt", "-q", "--max-iters", "3000"];

/// Options that pictures without samples do not take.
const LABELS: [&str; 2] = ["--labels", "g.txt"];

fn pictures(dir: &Dir, more: &[&str]) {
    let of_samples = more.iter().any(|word| ["--plot-scores", "--plot-biplot", "--report"].contains(word));
    let solve =
        if of_samples { SOLVE.to_vec() } else { SOLVE.into_iter().filter(|w| !LABELS.contains(w)).collect() };
    dir.orthopt(&[&solve[..], more].concat()).assert().success();
}

fn checked(dir: &Dir, name: &str, parts: &[&str]) -> String {
    let svg = dir.read(name);
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{name}");
    for bad in ["NaN", "inf", "a<b"] {
        assert!(!svg.contains(bad), "{name}: {bad}");
    }
    for part in parts {
        assert!(svg.contains(part), "{name}: no `{part}`");
    }
    svg
}

#[test]
fn titles_say_in_words_what_was_found() {
    let dir = Dir::new();
    let table = "builtin:pitprops";
    let told = |command: &[&str]| {
        let drawn = [command, &["-r", "2", "--plot-loadings", "t.svg", "-q"]].concat();
        dir.orthopt(&drawn).assert().success();
        dir.read("t.svg").split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_string()
    };
    assert_eq!(told(&["solve", "pca", table]), "Loadings, 2 principal components of 13 variables");
    assert_eq!(told(&["solve", "nonneg-pca", table]), "Loadings, 2 nonnegative components of 13 variables");
    let few = ["solve", "nonneg-pca", table, "--nonzeros", "3"];
    assert_eq!(told(&few), "Loadings, 2 sparse nonnegative components of 13 variables");
    let own = ["solve", "l0-pca", table, "--lambda", "0.1", "--title", "Pines & props"];
    assert_eq!(told(&own), "Loadings, Pines &amp; props");
}

#[test]
fn every_picture_has_names_and_axes() {
    let dir = Dir::new();
    table(&dir, 6);
    let files = [
        "--plot-loadings",
        "l.svg",
        "--plot-scores",
        "s.svg",
        "--plot-biplot",
        "b.svg",
        "--plot-correlations",
        "c.svg",
        "--plot-variance",
        "v.svg",
    ];
    pictures(&dir, &[&["-r", "3", "--lambda", "0.02"][..], &files].concat());
    checked(
        &dir,
        "l.svg",
        &[
            "Loadings, 3 sparse components of 6 variables",
            "l0-pca, t.csv, lambda = 0.02: ",
            "a&lt;b &amp; c",
            "PC1 (",
            "PC3 (",
            "6 of 6 variables with nonzero loadings",
        ],
    );
    checked(&dir, "s.svg", &["40 samples", "score on PC1, ", "score on PC2, ", "group &lt;3&gt;"]);
    checked(&dir, "b.svg", &["loadings of", "a&lt;b &amp; c", "score on PC2, "]);
    checked(
        &dir,
        "c.svg",
        &["6 variables", "a&lt;b &amp; c", "correlation with PC1", "correlation with PC2"],
    );
    checked(&dir, "v.svg", &["% of the variance", "component", "own", "added to those before it"]);
}

#[test]
fn many_variables_make_a_heat_map() {
    let dir = Dir::new();
    table(&dir, 90);
    pictures(&dir, &["-r", "2", "--lambda", "0.0001", "--plot-loadings", "l.svg"]);
    checked(&dir, "l.svg", &["the 60 largest of", "variables with nonzero loadings", "component"]);
}

/// One component, one sample, one variable, no label, no spread, a problem that is no PCA.
#[test]
fn whatever_a_result_can_be_is_drawn() {
    let dir = Dir::new();
    dir.write("one.csv", "1\n2\n4\n");
    dir.write("flat.csv", "1,1\n1,1\n1,1\n");
    let all = [
        "--plot-loadings",
        "l.svg",
        "--plot-scores",
        "s.svg",
        "--report",
        "r.html",
        "--plot-variance",
        "v.svg",
        "--plot-scree",
        "e.svg",
        "-q",
    ];
    for solve in [
        &["pca", "one.csv", "-r", "1", "--center"][..],
        &["pca", "flat.csv", "-r", "1", "--center"],
        &["l0-pca", "randn:1:5", "-r", "1"],
        &["nonneg-pca", "randn:9:5", "-r", "5"],
        &["l1-pca", "randn:30:12", "-r", "12"],
    ] {
        dir.orthopt(&[&["solve"][..], solve, &all].concat()).assert().success();
        for name in ["l.svg", "s.svg", "v.svg", "e.svg"] {
            checked(&dir, name, &[]);
        }
    }
    for (option, said) in [
        ("--plot-biplot", "a biplot needs two components"),
        ("--plot-correlations", "the circle of correlations needs two components"),
    ] {
        let plane = ["solve", "pca", "one.csv", "-r", "1", option, "b.svg", "--save-x", "x.npy"];
        let output = dir.orthopt(&plane).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains(said));
        assert!(dir.has("x.npy"), "nothing computed is lost");
        std::fs::remove_file(dir.path("x.npy")).unwrap();
    }
    dir.write("indefinite.csv", "1,0.9,-0.9\n0.9,1,0.9\n-0.9,0.9,1\n");
    let indefinite =
        ["solve", "l0-pca", "--gram", "indefinite.csv", "-r", "2", "--lambda", "0.01", "--report", "i.html"];
    dir.orthopt(&indefinite).assert().success();
    assert!(!dir.read("i.html").contains("id=\"correlations\""));
    dir.orthopt(&indefinite)
        .args(["--plot-correlations", "i.svg"])
        .assert()
        .code(1)
        .stderr(predicates::str::contains("C is not positive semidefinite"));
    let hyperbolic = ["solve", "hyperbolic-eig", "randn:20:4", "--report", "h.html", "-q"];
    dir.orthopt(&hyperbolic).assert().success();
    assert!(!dir.read("h.html").contains("id=\"variance\""));
    let gram = ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--report", "p.html", "-q"];
    dir.orthopt(&gram).assert().success();
    let page = dir.read("p.html");
    assert!(!page.contains("id=\"samples\"") && page.contains("id=\"correlations\""));
}

const SECTIONS: [&str; 8] =
    ["loadings", "variance", "samples", "correlations", "convergence", "bound", "settings", "repeat"];
/// Pictures of the page, each drawn for wide and for narrow screens.
const DRAWN: usize = 5;

fn report(dir: &Dir) -> String {
    table(dir, 6);
    pictures(dir, &["-r", "2", "--lambda", "0.05", "--certify", "--bound", "2", "--report", "r.html"]);
    dir.read("r.html")
}

#[test]
fn the_report_holds_everything() {
    let dir = Dir::new();
    let page = report(&dir);
    for section in &SECTIONS {
        assert!(page.contains(&format!("<h2 id=\"{section}\">")), "{section}");
    }
    assert!(page.contains("<th>a&lt;b &amp; c</th>") && !page.contains("a<b"));
    assert_eq!(page.matches("<svg ").count(), 2 * DRAWN);
    assert!(
        page.contains(
            "orthopt solve l0-pca t.csv --scale std --labels g.txt -q --max-iters 3000 -r 2 --lambda 0.05 --certify"
        )
    );
    assert!(page.contains("of all 15 pairs") || page.contains("all 15 pairs checked"), "certificate");
    assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("@import"), "self-contained");
    assert!(!page.contains("NaN"));
    dir.fails_in_one_line(
        &[&SOLVE[..], &["--report", "r.pdf"]].concat(),
        2,
        &["--report r.pdf: the name must end in .html"],
    );
}

/// The page in a browser: every section, every picture with a size, nothing cut off at the sides.
#[test]
fn the_report_in_a_browser() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names
        .iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()));
    let Some(browser) = found else {
        eprintln!("skipped: no browser to look at the page ({})", names.join(", "));
        return;
    };
    let dir = Dir::new();
    let page = report(&dir);
    // the browser measures itself and writes what it finds into the title
    let measure = "<script>addEventListener('load', () => {
        const svgs = [...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect());
        const seen = svgs.filter(b => b.width > 300 && b.height > 100).length;
        const heads = [...document.querySelectorAll('h2')].map(h => h.id).join(' ');
        const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
        document.title = `seen ${seen} of ${svgs.length}; ${heads}; ${wide ? 'too wide' : 'fits'}`;
    });</script></body>";
    dir.write("m.html", page.replace("</body>", measure));
    for width in ["1200,900", "500,900"] {
        let mut command = Command::new(browser);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ]);
        command.arg(format!("--user-data-dir={}", dir.path("profile").display()));
        command.arg(format!("--window-size={width}"));
        let output = command.arg(format!("file://{}", dir.path("m.html").display())).output().unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let title =
            dom.split("<title>").nth(1).and_then(|t| t.split("</title>").next()).unwrap_or("no title");
        assert_eq!(
            title,
            format!("seen {DRAWN} of {}; {}; fits", 2 * DRAWN, SECTIONS.join(" ")),
            "at {width}"
        );
    }
}

/// Numbers of an attribute of an element, `x="1"` or `points="1,2 3,4 "`.
fn numbers(element: &str, name: &str) -> Vec<f64> {
    let value =
        element.split_once(&format!(" {name}=\"")).map_or("", |rest| rest.1.split('"').next().unwrap());
    value.split([',', ' ']).filter_map(|number| number.parse().ok()).collect()
}

/// Four tables: few variables and many, groups, correlated ones.
const TABLES: [&str; 4] = ["spiked:zht:300", "spiked:200:60:3:8", "spiked:50:30:2:12:3:4", "t.csv"];

/// Left, top, right and bottom of every text of a picture, roughly: letters of sans-serif fonts are .55 em wide on the average.
fn words(svg: &str) -> Vec<(String, [f64; 4])> {
    let texts = svg.split("<text ").skip(1).filter_map(|text| {
        let (attributes, rest) = text.split_once(">\n")?;
        let attributes = format!(" {attributes}");
        let [x, y, size] = ["x", "y", "font-size"].map(|name| numbers(&attributes, name)[0]);
        let words = rest.split('\n').next()?.to_string();
        let shown = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let (wide, high) = (0.55 * size * shown.chars().count() as f64, 0.8 * size);
        let left = match attributes {
            ref a if a.contains("text-anchor=\"middle\"") => x - 0.5 * wide,
            ref a if a.contains("text-anchor=\"end\"") => x - wide,
            _ => x,
        };
        let upright = attributes.contains("rotate(270");
        let area = match upright {
            true => [x - 0.5 * high, y - 0.5 * wide, x + 0.5 * high, y + 0.5 * wide],
            false => [left, y - 0.5 * high, left + wide, y + 0.5 * high],
        };
        Some((words, area))
    });
    texts.filter(|(words, _)| !words.is_empty()).collect()
}

fn check_words(name: &str, svg: &str) {
    let frame = numbers(svg, "viewBox");
    let found = words(svg);
    assert!(found.len() >= 6, "{name}: {} texts", found.len());
    for (i, (text, a)) in found.iter().enumerate() {
        let inside = a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= frame[2] && a[3] <= frame[3];
        assert!(inside, "{name}: `{text}` leaves the picture: {a:?}");
        for (other, b) in &found[..i] {
            let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
            assert!(apart, "{name}: `{text}` lies on `{other}`: {a:?} {b:?}");
        }
    }
    let elements = svg.split('<');
    let points = elements.filter(|e| e.starts_with("poly") || e.starts_with("path ")).flat_map(|e| {
        let all = numbers(e, "points");
        all.chunks(2).map(|p| (p[0], p[1])).collect::<Vec<_>>()
    });
    for (x, y) in points {
        assert!((0.0..=frame[2]).contains(&x) && (0.0..=frame[3]).contains(&y), "{name}: a mark at {x} {y}");
    }
}

#[test]
fn words_of_every_picture_are_apart_and_inside() {
    let dir = Dir::new();
    table(&dir, 12);
    let kinds = [
        "plot",
        "plot-loadings",
        "plot-scores",
        "plot-biplot",
        "plot-correlations",
        "plot-variance",
        "plot-scree",
        "plot-stability",
    ];
    let files = kinds.map(|kind| [format!("--{kind}"), format!("{kind}.svg")]);
    for source in TABLES {
        let solve = [
            "solve",
            "l0-pca",
            source,
            "--scale",
            "std",
            "-r",
            "3",
            "--nonzeros",
            "8",
            "-q",
            "--effort",
            "quick",
        ];
        for size in [
            &[][..],
            &["--plot-width", "1200", "--font-size", "12"],
            &["--plot-width", "400", "--font-size", "13"],
        ] {
            let mut command =
                dir.orthopt(&[&solve[..], size, &["--stability", "3", "--time-limit", "1"]].concat());
            command.args(files.iter().flatten()).assert().success();
            for kind in kinds {
                check_words(&format!("{kind} of {source} {size:?}"), &dir.read(&format!("{kind}.svg")));
            }
        }
        let path =
            ["path", "l0-pca", source, "--scale", "std", "-r", "2", "--counts", "1,2,4,8", "--cv", "3", "-q"];
        dir.orthopt(&[&path[..], &["--time-limit", "2", "--bound", "0.5", "--plot", "path.svg"]].concat())
            .assert()
            .success();
        check_words(&format!("path of {source}"), &dir.read("path.svg"));
        let bound = [
            "bound",
            "l0-pca",
            source,
            "--scale",
            "std",
            "-r",
            "1",
            "--nonzeros",
            "4",
            "--time-limit",
            "1",
            "-q",
        ];
        dir.orthopt(&[&bound[..], &["--plot", "bound.svg"]].concat()).assert().success();
        check_words(&format!("bound of {source}"), &dir.read("bound.svg"));
        let compare =
            ["compare", "l1-pca", source, "--scale", "std", "-r", "2", "--lambda-share", "0.1", "-q"];
        let solvers = ["--solvers", "obcd,manpg,ladmm+obcd,spm", "--max-iters", "200", "--plot", "all.svg"];
        dir.orthopt(&[&compare[..], &solvers].concat()).assert().success();
        check_words(&format!("comparison of {source}"), &dir.read("all.svg"));
    }
}

#[test]
fn the_check_of_words_finds_what_is_wrong() {
    let text = |x: f64, words: &str| {
        format!(
            "<text x=\"{x}\" y=\"50\" dy=\"0.5ex\" text-anchor=\"start\" font-size=\"20\" fill=\"#000000\">\n{words}\n</text>\n"
        )
    };
    let drawn = |places: [f64; 6]| {
        let texts: String = places.iter().map(|x| text(*x, "abcd")).collect();
        format!("<svg viewBox=\"0 0 600 100\">\n{texts}</svg>")
    };
    let caught = |places| std::panic::catch_unwind(|| check_words("x", &drawn(places))).is_err();
    assert!(!caught([0.0, 100.0, 200.0, 300.0, 400.0, 500.0]));
    assert!(caught([0.0, 100.0, 200.0, 300.0, 400.0, 440.0]), "they overlap");
    assert!(caught([0.0, 100.0, 200.0, 300.0, 400.0, 580.0]), "the last one leaves the picture");
}

#[test]
fn a_title_is_drawn_by_every_call_that_takes_one() {
    let dir = Dir::new();
    dir.orthopt(&[
        "solve",
        "l0-pca",
        "builtin:pitprops",
        "-r",
        "1",
        "--nonzeros",
        "3",
        "--save-x",
        "x.npy",
        "-q",
    ])
    .assert()
    .success();
    let bound =
        ["bound", "l0-pca", "builtin:pitprops", "--x", "x.npy", "--nonzeros", "3", "--time-limit", "1", "-q"];
    dir.orthopt(&[&bound[..], &["--plot", "b.svg", "--title", "Props"]].concat()).assert().success();
    assert!(dir.read("b.svg").contains("<title>Bounds, Props</title>"));
    table(&dir, 6);
    let explore =
        ["explore", "t.csv", "--report", "r.html", "--title", "Groups <of four>", "--time-limit", "4", "-q"];
    dir.orthopt(&explore).assert().success();
    let page = dir.read("r.html");
    assert!(
        page.contains("<h1>Groups &lt;of four&gt;</h1>")
            && page.contains("<title>Loadings, Groups &lt;of four&gt;</title>")
    );
    // what draws nothing does not offer it
    let certify = dir
        .orthopt(&["certify", "l0-pca", "builtin:pitprops", "--x", "x.npy", "--title", "T"])
        .output()
        .unwrap();
    assert_eq!(certify.status.code(), Some(2));
    dir.fails_in_one_line(
        &["solve", "l0-pca", "t.csv", "-q", "--plot-width", "400"],
        2,
        &["--plot-width is for pictures"],
    );
    dir.fails_in_one_line(
        &["solve", "l0-pca", "t.csv", "-q", "--plot", "p.svg", "--font-size", "80"],
        2,
        &["font-size", "at most 40 pixels in a picture 800 wide"],
    );
}

#[test]
fn marks_of_a_biplot_lie_inside_and_names_do_not_overlap() {
    let dir = Dir::new();
    table(&dir, 12);
    for source in TABLES {
        let solve = ["solve", "l0-pca", source, "--scale", "std", "-r", "2", "--nonzeros", "10", "-q"];
        dir.orthopt(&[&solve[..], &["--max-iters", "2000", "--plot-biplot", "b.svg"]].concat())
            .assert()
            .success();
        let svg = dir.read("b.svg");
        let elements: Vec<_> = svg.split('<').collect();
        let of = |kind: &str| elements.iter().copied().filter(|e| e.starts_with(kind)).collect::<Vec<_>>();
        // names stand on boxes that hide what is behind them
        let behind = of("rect ").into_iter().filter(|rect| rect.contains("fill=\"#FFFFFF\""));
        let boxes: Vec<[f64; 4]> = behind
            .map(|rect| ["x", "y", "width", "height"].map(|name| numbers(rect, name)[0]))
            .map(|[x, y, width, height]| [x, y, x + width, y + height])
            .collect();
        let arrows = of("polygon ");
        assert!(
            boxes.len() >= 8 && boxes.len() == arrows.len(),
            "{source}: {} {}",
            boxes.len(),
            arrows.len()
        );
        for (i, a) in boxes.iter().enumerate() {
            assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= 1600.0 && a[3] <= 1000.0, "{source}: {a:?}");
            for b in &boxes[..i] {
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                assert!(apart, "{source}: {a:?} {b:?}");
            }
        }
        for mark in arrows.iter().flat_map(|polygon| {
            numbers(polygon, "points").chunks(2).map(|p| (p[0], p[1])).collect::<Vec<_>>()
        }) {
            assert!(
                (0.0..=1600.0).contains(&mark.0) && (116.0..=900.0).contains(&mark.1),
                "{source}: {mark:?}"
            );
        }
        for circle in of("circle ") {
            let (x, y) = (numbers(circle, "cx")[0], numbers(circle, "cy")[0]);
            assert!((160.0..=1600.0).contains(&x) && (116.0..=900.0).contains(&y), "{source}: {x} {y}");
        }
    }
}
