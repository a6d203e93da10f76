//! PNG by resvg, PDF by svg2pdf. Words are set in Noto Sans, which is part of the program, so
//! that a picture is the same on all systems, including those without fonts. Fonts of the system supply characters
//! that it lacks.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{FontResolver, Options, Tree, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

/// Number of pixels of PNG per pixel of SVG: drawings have twice as many units as pixels.
const FINE: f32 = 2.0;
/// Pixels of SVG in an inch of PDF, as everywhere.
const INCH: f32 = 96.0;

pub fn check(_: &str, _: &Path) -> anyhow::Result<()> {
    Ok(())
}

pub fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    let tree = tree(svg)?;
    let size = tree.size().to_int_size().scale_by(FINE).context("the picture has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).context("the picture is too large for PNG")?;
    pixels.fill(Color::WHITE); // a drawing has no background of its own
    resvg::render(&tree, Transform::from_scale(FINE, FINE), &mut pixels.as_mut());
    pixels.encode_png().context("cannot make a PNG of the picture")
}

pub fn pdf(svg: &str) -> anyhow::Result<Vec<u8>> {
    svg2pdf::to_pdf(&tree(svg)?, ConversionOptions::default(), PageOptions { dpi: INCH })
        .map_err(|error| anyhow!("cannot make a PDF of the picture: {error}"))
}

fn tree(svg: &str) -> anyhow::Result<Tree> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(ttf_noto_sans::REGULAR.to_vec());
    let ours = fonts.faces().next().map(|face| face.id).context("the program's font is damaged")?;
    let others = FontResolver::default_fallback_selector();
    let font_resolver = FontResolver {
        select_font: Box::new(move |_, _| Some(ours)),
        // finding the fonts of the system takes time, and hardly ever is one needed
        select_fallback: Box::new(move |character, tried, fonts| {
            if fonts.len() == 1 {
                Arc::make_mut(fonts).load_system_fonts();
            }
            others(character, tried, fonts)
        }),
    };
    let options = Options { fontdb: Arc::new(fonts), font_resolver, ..Options::default() };
    Tree::from_str(svg, &options).context("cannot read the picture as it is drawn")
}
