//! Problems whose time is over before they are set up.

use orthopt_linalg::cancel::is_over;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;

/// An error that says so if a decomposition was cancelled.
pub(super) fn in_time<T>(made: Result<T>) -> Result<T> {
    match made {
        Err(Error::Factorisation(what)) if is_over() => Err(Error::Incompatible(
            Message::from("the time was over before the problem was set up (")
                .text(what)
                .text(" takes longer): allow more (")
                .option("time-limit")
                .text(")"),
        )),
        made => made,
    }
}
