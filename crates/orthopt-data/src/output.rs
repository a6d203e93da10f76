//! Files are written here and nowhere else: beside their name first, and renamed when they are whole, so
//! that a full disk or an interruption costs no older file of that name.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::DataError;
use crate::input::Compression as Compressed;

const BUFFER: usize = 1 << 16;

/// Parts that a program which ends now leaves behind.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes a file as a whole or not at all: `body` writes into a new file in the same folder, which then
/// takes the name. What had the name before stays until that moment, and for good if anything fails.
///
/// A symbolic link stays one, and the file that it names is written. What is no ordinary file (`/dev/stdout`,
/// a pipe) is written directly, as is a file in a folder that takes no others.
///
/// # Errors
/// [`DataError::Io`], also where only the last bytes fail (a full disk).
pub fn write_whole(
    path: &Path,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    replace(path, body).map_err(|error| DataError::Io {
        action: "write",
        path: path.display().to_string(),
        error,
    })
}

/// [`write_whole`] for what cannot be made again: where it fails, the file goes into the folder of temporary files under a
/// name of its own, and the error says where it is.
///
/// # Errors
/// [`DataError::Io`], also where it is there.
pub fn write_or_rescue(
    path: &Path,
    mut body: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    replace(path, &mut body).map_err(|error| {
        let rescued = if let Ok(Target::File(name)) = target(path) { rescue(&name, body) } else { None };
        let error = match rescued {
            Some(other) => {
                io::Error::new(error.kind(), format!("{error}; it is in `{}` instead", other.display()))
            }
            None => error,
        };
        DataError::Io { action: "write", path: path.display().to_string(), error }
    })
}

/// Writes the file to the folder of temporary files and returns its path; `None` if that fails, too.
fn rescue(name: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Option<PathBuf> {
    let name = name.file_name()?.to_string_lossy();
    let other = std::env::temp_dir().join(format!("orthopt-{}-{name}", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).open(&other).ok()?;
    match fill(file, body) {
        Ok(_) => Some(other),
        Err(_) => {
            let _ = fs::remove_file(&other);
            None
        }
    }
}

/// An error where [`write_whole`] cannot write this file, found before there is anything to write. Nothing is changed, and
/// pipes and devices are not opened.
///
/// # Errors
/// [`DataError::Io`].
pub fn check_writable(path: &Path) -> Result<(), DataError> {
    check_compression(path)?;
    let tried = match target(path) {
        Ok(Target::File(name)) => begin(&name).map(drop),
        Ok(Target::Special) if path.is_dir() => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder: name a file in it"))
        }
        Ok(Target::Special) => Ok(()),
        Err(error) => Err(error),
    };
    tried.map_err(|error| DataError::Io { action: "write", path: path.display().to_string(), error })
}

fn check_compression(path: &Path) -> Result<(), DataError> {
    match Compressed::named(path) {
        None | Some(Compressed::Gzip) => Ok(()),
        Some(_) => Err(DataError::File {
            path: path.display().to_string(),
            problem: "files are written as they are or compressed as .gz".into(),
        }),
    }
}

/// Writes a file, compressed when the name ends in `.gz`; see [`write_or_rescue`].
pub(crate) fn write_to(
    path: &Path,
    mut body: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    check_compression(path)?;
    write_or_rescue(path, |file| {
        if Compressed::named(path) != Some(Compressed::Gzip) {
            return body(file);
        }
        // The encoder examines every write; a buffer in front spares it the single numbers.
        let encoder = GzEncoder::new(file, Compression::default());
        let mut buffered = BufWriter::with_capacity(BUFFER, encoder);
        body(&mut buffered)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.finish().map(drop)
    })
}

/// The file that [`write_whole`] makes of a path, without links; `None` for what is no ordinary file. Two paths
/// that give the same must not both be written.
pub fn written_file(path: &Path) -> Option<PathBuf> {
    let Ok(Target::File(name)) = target(path) else { return None };
    let folder = name.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(name.file_name()?))
}

/// Removes what files that are being written have taken of the disk; for a program that ends at once.
pub fn remove_unfinished() {
    for part in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(part); // no one receives an error here
    }
}

fn replace(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let Target::File(name) = target(path)? else {
        return fill(File::create(path)?, body).map(drop);
    };
    let (older, part) = begin(&name)?;
    let Some((part, file)) = part else { return fill(File::create(&name)?, body).map(drop) };
    let file = fill(file, body)?;
    if let Some(permissions) = older {
        file.set_permissions(permissions)?;
        file.sync_data()?; // before the older file goes: some systems notice only now that they are full
    }
    part.becomes(&name)
}

/// The new file beside its name; none in a folder that takes no others.
type NewFile = Option<(Part, File)>;

/// Permissions of the older file, if there is one, and the new file; none in a folder that takes no others.
fn begin(name: &Path) -> io::Result<(Option<Permissions>, NewFile)> {
    let older = match OpenOptions::new().write(true).open(name) {
        Ok(file) => Some(file.metadata()?.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error), // one that is protected stays
    };
    match Part::create(name) {
        Ok(part) => Ok((older, Some(part))),
        Err(error) if older.is_some() && error.kind() == io::ErrorKind::PermissionDenied => Ok((older, None)),
        Err(error) => Err(error),
    }
}

fn fill(file: File, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut buffered = BufWriter::with_capacity(BUFFER, file);
    body(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Target of the bytes for a path.
enum Target {
    /// An ordinary file, or one that is still to be made, behind all links.
    File(PathBuf),
    /// Something that cannot be replaced.
    Special,
}

fn target(path: &Path) -> io::Result<Target> {
    const LINKS: usize = 40; // as many as Linux follows
    // names of open files: what is open must be written, not another file of its name
    const OPEN: [&str; 2] = ["/proc", "/dev/fd"];
    let mut name = path.to_path_buf();
    for _ in 0..LINKS {
        if OPEN.iter().any(|folder| name.starts_with(folder)) {
            return Ok(Target::Special);
        }
        match fs::symlink_metadata(&name) {
            Ok(meta) if meta.is_symlink() => {
                let link = fs::read_link(&name)?;
                name = name.parent().unwrap_or(Path::new("")).join(link);
            }
            Ok(meta) if !meta.is_file() => return Ok(Target::Special),
            _ => return Ok(Target::File(name)), // what is wrong with it shows when it is written
        }
    }
    Ok(Target::Special) // a circle of links, which the system refuses
}

/// The new file while it has not got its name; gone with this value otherwise.
struct Part(PathBuf);

impl Part {
    fn create(name: &Path) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if name.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it does not name a file"));
        }
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let part = name.with_file_name(format!(".orthopt-{}-{count}.part", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&part) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    unfinished(|parts| parts.push(part.clone()));
                    return Ok((Self(part), file));
                }
            }
        }
    }

    fn becomes(self, name: &Path) -> io::Result<()> {
        fs::rename(&self.0, name)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        unfinished(|parts| parts.retain(|part| *part != self.0));
        let _ = fs::remove_file(&self.0); // nothing is there any more once it has its name
    }
}

fn unfinished(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failure_leaves_the_older_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        for (older, left) in [(None, 0), (Some("good"), 1)] {
            older.iter().for_each(|text| fs::write(&path, text).unwrap());
            let error = write_whole(&path, |out| {
                out.write_all(&[b'x'; 3 * BUFFER])?;
                Err(io::Error::other("the disk is full"))
            });
            assert!(error.unwrap_err().to_string().contains("the disk is full"));
            assert_eq!(names(folder.path()).len(), left);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), older);
        }
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
    }

    #[test]
    fn what_cannot_be_made_again_is_put_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rescued.json");
        let mut tries = 0;
        let error = write_or_rescue(&path, |out| {
            tries += 1;
            out.write_all(b"all of it")?;
            if tries == 1 { Err(io::Error::other("the disk is full")) } else { Ok(()) }
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("the disk is full; it is in `") && names(folder.path()).is_empty(), "{error}");
        let other = Path::new(error.split('`').nth(3).unwrap());
        assert_eq!(fs::read_to_string(other).unwrap(), "all of it");
        // what is there already is not replaced; nothing is left of what fails again
        let fails = |out: &mut dyn Write| out.write_all(b"part").and(Err(io::Error::other("full")));
        assert!(!write_or_rescue(&path, fails).unwrap_err().to_string().contains("it is in"));
        assert_eq!(fs::read_to_string(other).unwrap(), "all of it");
        fs::remove_file(other).unwrap();
        assert!(!write_or_rescue(&path, fails).unwrap_err().to_string().contains("it is in"));
        assert!(!other.exists());
        write_or_rescue(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old"), "old").unwrap();
        for good in ["old", "new"] {
            check_writable(&at(good)).unwrap();
        }
        assert_eq!(names(folder.path()), ["old"]);
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "old");
        for bad in ["none/new", "old/new", "."] {
            let error = check_writable(&at(bad)).unwrap_err().to_string();
            assert!(error.starts_with("cannot write `"), "{error}");
            assert!(write_whole(&at(bad), |_| Ok(())).is_err());
        }
        check_writable(Path::new("/dev/null")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/x.csv"), "old").unwrap();
        fs::set_permissions(at("far/x.csv"), Permissions::from_mode(0o640)).unwrap();
        symlink("far/x.csv", at("near.csv")).unwrap();
        symlink("far/none.csv", at("dangling.csv")).unwrap();
        for (link, file) in [("near.csv", "far/x.csv"), ("dangling.csv", "far/none.csv")] {
            write_whole(&at(link), |out| out.write_all(b"new")).unwrap();
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
            assert!(fs::symlink_metadata(at(file)).unwrap().is_file());
            assert_eq!(fs::read_to_string(at(file)).unwrap(), "new");
        }
        assert_eq!(fs::metadata(at("far/x.csv")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(&at("far")), ["none.csv", "x.csv"]);
        symlink("circle", at("circle")).unwrap();
        assert!(write_whole(&at("circle"), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_folders_are_not_replaced() {
        let text = |out: &mut dyn Write| out.write_all(b"text");
        write_whole(Path::new("/dev/null"), text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for no_file in [folder.path(), Path::new("/"), Path::new("..")] {
            assert!(write_whole(no_file, text).is_err(), "{}", no_file.display());
        }
        if Path::new("/dev/full").exists() {
            let error = write_whole(Path::new("/dev/full"), text).unwrap_err().to_string();
            assert!(error.starts_with("cannot write `/dev/full`: "), "{error}");
        }
    }
}
