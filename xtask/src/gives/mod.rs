//! What is given away: releases, archives and packages, the site, modules for browsers and Python.

pub mod release;
