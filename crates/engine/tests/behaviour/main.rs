//! Behaviour of the simulated machine, seen from outside: what its observers are told and what the
//! report says. Expected values come from arithmetic or from the specifications ("SB" is
//! `signals-and-baseline`), never from a run.
#![allow(missing_docs, reason = "not a library")]

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod balance;
mod dsq;
mod eevdf;
mod energy;
mod fair;
mod frequency;
mod idle;
mod invariants;
mod outcomes;
mod scale;
