//! The tests of knowledge graphs: one binary, a module for each part.

mod common;

mod bilinear;
mod fuzz;
mod golden;
mod gradients;
mod racing;
mod ranks;
mod reading;
mod saving;
mod training;
