//! Pictures as PNG and PDF, by the command built with the feature `pictures`.

#[path = "it/common/mod.rs"]
#[allow(dead_code)] // the other tests use the rest
mod common;

use common::Dir;
use resvg::tiny_skia::Pixmap;

const SOLVE: [&str; 9] =
    ["solve", "l0-pca", "t.csv", "-q", "--solver", "obcd", "--max-iters", "300", "--lambda=0.1"];

/// A table whose names are in no font for Latin letters.
fn table(dir: &Dir) {
    let rows = (0..12).map(|i| format!("{},{},{}\n", i, (i * i) % 7, (i * 5) % 11));
    dir.write("t.csv", format!("länge,重さ,‖x‖\n{}", rows.collect::<String>()));
}

/// The PNG of a picture that is drawn on twice as many units as it has pixels in SVG.
fn png(dir: &Dir, name: &str) -> Pixmap {
    Pixmap::decode_png(&dir.bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// How many pixels of some rows are dark, as letters are.
fn dark(picture: &Pixmap, rows: std::ops::Range<u32>) -> usize {
    let all = rows.flat_map(|y| (0..picture.width()).filter_map(move |x| picture.pixel(x, y)));
    all.filter(|p| u32::from(p.red()) + u32::from(p.green()) + u32::from(p.blue()) < 200).count()
}

#[test]
fn the_ending_says_what_a_picture_is() {
    let dir = Dir::new();
    table(&dir);
    let options = [
        "--plot",
        "--plot-loadings",
        "--plot-scores",
        "--plot-biplot",
        "--plot-correlations",
        "--plot-variance",
        "--plot-scree",
    ];
    for ending in ["svg", "png", "PDF"] {
        let files: Vec<String> = (0..options.len()).map(|k| format!("{k}.{ending}")).collect();
        let named = options.iter().zip(&files).flat_map(|(option, file)| [*option, file]);
        dir.orthopt(&SOLVE).args(["-r", "2"]).args(named).assert().success();
    }
    for k in 0..options.len() {
        let (picture, drawn) = (png(&dir, &format!("{k}.png")), dir.read(&format!("{k}.svg")));
        let units = format!("viewBox=\"0 0 {} {}\"", picture.width(), picture.height());
        assert!(drawn.contains(&units), "{k}: {units}");
        let corner = picture.pixel(1, 1).unwrap();
        assert_eq!([corner.red(), corner.green(), corner.blue(), corner.alpha()], [255; 4], "{k}");
        // the title of some 40 letters and the line below it of ten or more, whatever fonts the system has
        assert!(dark(&picture, 20..70) > 1000 && dark(&picture, 70..116) > 150, "{k}: no words");
        let page = dir.bytes(&format!("{k}.PDF"));
        let holds = |word: &[u8]| page.windows(word.len()).any(|part| part == word);
        assert!(page.starts_with(b"%PDF-") && holds(b"NotoSans") && holds(b"/FontFile"), "{k}: no font");
        // letters are letters: text can be searched
        assert!(holds(b"/ToUnicode"), "{k}");
    }
}

#[test]
fn other_commands_draw_them_too() {
    let dir = Dir::new();
    table(&dir);
    dir.write("train.tsv", "a\tr\tb\nb\tr\tc\nc\tr\ta\n");
    let walk = ["path", "l0-pca", "t.csv", "-q", "--counts", "1,2", "-r", "1", "--plot", "path.png"];
    let several =
        ["compare", "l0-pca", "t.csv", "-q", "-r", "1", "--lambda", "0.1", "--max-iters", "200", "--solvers"];
    dir.orthopt(&walk).args(["--max-iters", "300"]).assert().success();
    dir.orthopt(&several).args(["obcd-c,obcd-r", "--plot", "all.png"]).assert().success();
    let train = ["embed", "train.tsv", "-q", "--dim", "4", "--epochs", "2", "--plot", "loss.png"];
    dir.orthopt(&train).assert().success();
    for name in ["path.png", "all.png", "loss.png"] {
        let picture = png(&dir, name);
        assert_eq!((picture.width(), picture.height()), (1600, 1000), "{name}");
        assert!(dark(&picture, 20..70) > 1000, "{name}: no words");
    }
}

#[test]
fn the_same_result_is_the_same_file() {
    let dir = Dir::new();
    table(&dir);
    // letters of one font: the order in which a PDF lists several fonts is not ours
    dir.write(
        "t.csv",
        String::from_utf8_lossy(&dir.bytes("t.csv")).replace("länge,重さ,‖x‖", "length,weight,norm"),
    );
    for ending in ["png", "pdf"] {
        let drawn = |name: &str| {
            dir.orthopt(&SOLVE).args(["-r", "2", "--plot-loadings", name]).assert().success();
            dir.bytes(name)
        };
        let (first, second) = (drawn(&format!("a.{ending}")), drawn(&format!("b.{ending}")));
        assert!(first == second, "two runs draw different {ending}");
    }
}
