//! What is given away: releases, archives and packages, the site, modules for browsers and Python.

pub mod debian;
pub mod dist;
pub mod playground;
pub mod programs;
pub mod python;
pub mod release;
pub mod site;
