//! Administrative configuration of this machine (spec 09 sections 2 to 4): what configures it is
//! known in one place, `chatmdc::administration`.
//!
//! This version does not evaluate it. A machine that has some must not be treated as if it had none,
//! so commands refuse.

use chatmdc::administration;

use crate::exit::{self, Stop};

/// Refuses when anything configures administrative policy, trust or signatures here.
pub fn refuse_if_configured() -> Result<(), Stop> {
    administration::nothing_configured()
        .map_err(|refusal| Stop::new(exit::REFUSED, format!("chatmd: {refusal}")))
}
