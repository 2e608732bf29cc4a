//! Documents read end to end.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use chatmd_syntax::parse;
use common::{check_cover, codes, outline};

#[test]
fn a_whole_document() {
    let text = concat!(
        "<!-- note -->\n<config model=\"m\"/>\n<user>a <b>x</b> < y</user>\n",
        "<shell_access id=\"x\"><limits wall_time='5m'></limits><wat/></shell_access>\n",
        "<script id=\"s\" language=\"chatml\" kind=\"moderator\">let s = \"<user>RAW|\"</script>\n",
    );
    let parsed = parse(text.as_bytes());
    check_cover(&parsed);
    assert_eq!(codes(&parsed), Vec::<String>::new());
    assert_eq!(
        outline(&parsed),
        r#"comment "<!-- note -->"
text "\n"
config model="m"
text "\n"
user
  text "a <b>x</b> < y"
text "\n"
shell_access id="x"
  limits wall_time="5m"
  ?wat
text "\n"
script id="s" language="chatml" kind="moderator"
  script "let s = \"<user>RAW|\""
text "\n"
"#
    );
}
