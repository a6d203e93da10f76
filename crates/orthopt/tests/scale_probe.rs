#[path = "it/common/mod.rs"]
#[allow(dead_code, unused_imports)]
mod common;
#[path = "it/invariance.rs"]
mod invariance;
