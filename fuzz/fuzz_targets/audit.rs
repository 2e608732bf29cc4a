#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chatmd_fuzz::audit(bytes));
