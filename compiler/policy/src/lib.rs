//! What a command is, what it would do, and whether it may: pure functions over data.
