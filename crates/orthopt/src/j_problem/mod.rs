//! Certificates of problems over the J-orthogonal group.

pub(crate) mod certificate;
