//! One file per command: its help, its arguments, its function.

pub(crate) mod agents;
pub(crate) mod ask;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod consensus;
pub(crate) mod debate;
pub(crate) mod disconnect;
pub(crate) mod dispute;
pub(crate) mod disputes;
pub(crate) mod doctor;
mod ending;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod init;
pub(crate) mod lines;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod review;
pub(crate) mod section;
pub(crate) mod show;
pub(crate) mod supervise;
pub(crate) mod task;
pub(crate) mod verdict;
pub(crate) mod watch;
