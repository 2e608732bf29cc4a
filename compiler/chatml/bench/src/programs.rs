//! The same programs in each language.

/// One program; each source defines a function `run` without parameters.
pub struct Program {
    /// Its name in the report.
    pub name: &'static str,
    /// What `run` returns.
    pub result: i64,
    /// ChatML; the last statement calls the function.
    pub chatml: &'static str,
    /// Rhai.
    pub rhai: &'static str,
    /// Starlark.
    pub starlark: &'static str,
}

/// All programs.
pub const ALL: &[Program] = &[
    Program {
        name: "fib_25",
        result: 75_025,
        chatml: "let rec fib n = if n < 2 then n else fib(n - 1) + fib(n - 2)\nfib(25)",
        rhai: "fn fib(n) { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }\nfn run() { fib(25) }",
        starlark: "def fib(n):\n  return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef run():\n  return fib(25)\n",
    },
    Program {
        name: "string_building",
        result: 24_890,
        chatml: "let rec build i s = if i == 4000 then string_length(s) else build(i + 1, s ++ (\"x\" ++ to_string(i)) ++ \",\")\nbuild(0, \"\") + 2000",
        rhai: "fn run() { let s = \"\"; for i in 0..4000 { s += \"x\" + i; s += \",\"; } s.len() + 2000 }",
        starlark: "def run():\n  s = \"\"\n  for i in range(4000):\n    s += \"x\" + str(i)\n    s += \",\"\n  return len(s) + 2000\n",
    },
    Program {
        name: "record_churn",
        result: 200_000,
        chatml: "let rec churn i r = if i == 100000 then r.x + r.y else churn(i + 1, { r with x = r.x + 1; y = r.z + 1; z = i + 1 })\nchurn(0, { x = 0; y = 0; z = 0 })",
        rhai: "fn run() { let r = #{x: 0, y: 0, z: 0}; for i in 0..100000 { r = #{x: r.x + 1, y: r.z + 1, z: i + 1}; } r.x + r.y }",
        starlark: "def run():\n  r = struct(x = 0, y = 0, z = 0)\n  for i in range(100000):\n    r = struct(x = r.x + 1, y = r.z + 1, z = i + 1)\n  return r.x + r.y\n",
    },
];
