//! A picture as a file: SVG as it is drawn, and with the feature `pictures` PNG and PDF made of that.

#[cfg(feature = "pictures")]
mod made;
#[cfg(not(feature = "pictures"))]
#[path = "absent.rs"]
mod made;

use std::path::Path;

use super::{check_ending, has_ending, to_file};

/// Extensions of pictures; the first is the format of the drawing.
pub const ENDINGS: &[&str] = &[".svg", ".png", ".pdf"];

/// The file of an option that draws, before anything is computed.
///
/// # Errors
/// The extension is not that of a picture, or not supported by this build.
pub fn check(option: &str, path: &Path) -> anyhow::Result<()> {
    check_ending(option, path, ENDINGS)?;
    if has_ending(path, &ENDINGS[..1]) { Ok(()) } else { made::check(option, path) }
}

/// Writes the picture, in the format of the extension.
///
/// # Errors
/// It cannot be made or written.
pub fn write(svg: &str, path: &Path) -> anyhow::Result<()> {
    let bytes = match () {
        () if has_ending(path, &[".png"]) => made::png(svg)?,
        () if has_ending(path, &[".pdf"]) => made::pdf(svg)?,
        () => svg.as_bytes().to_vec(),
    };
    to_file(path, |out| out.write_all(&bytes))
}
