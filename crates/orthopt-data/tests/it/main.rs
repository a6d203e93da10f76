//! The tests of the readers, writers and generators: one binary, a module for each part.

mod common;

mod bad_files;
mod bad_text;
mod bombs;
mod centring;
mod chunks;
mod fuzz_files;
mod fuzz_tables;
mod generators;
mod gram;
mod kinds;
mod matlab;
mod prepare;
mod real_data;
mod round_trip;
mod tables;
