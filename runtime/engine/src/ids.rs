//! Random identifiers (spec 06 section 1.2).

use std::io;

use crate::identity::hex;

/// `shell-` and 32 hexadecimal digits.
pub fn request_id() -> io::Result<String> {
    random("shell-")
}

/// `plan-` and 32 hexadecimal digits.
pub fn plan_id() -> io::Result<String> {
    random("plan-")
}

/// Id of a grant: 32 hexadecimal digits.
pub fn grant_id() -> io::Result<String> {
    random("")
}

fn random(prefix: &str) -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{prefix}{}", hex(&bytes)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    #[test]
    fn forms() {
        let (request, plan) = (super::request_id().unwrap(), super::plan_id().unwrap());
        assert!(request.starts_with("shell-") && request.len() == 38);
        assert!(plan.starts_with("plan-") && plan.len() == 37);
        assert_ne!(request, super::request_id().unwrap());
    }
}
