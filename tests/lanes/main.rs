//! The lanes that look at pages, from outside: what is looked at and when, what a model is asked, and what comes of it.
//! The model is a program that keeps what it was asked and answers what a test has put there.

#[path = "../common/mod.rs"]
mod common;

mod clones;
mod distill;
mod due;
mod reflect;
mod scene;
mod select;
