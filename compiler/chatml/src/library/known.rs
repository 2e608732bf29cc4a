//! Names that the library itself builds and reads. Every program interns them first and in this
//! order, so that their numbers are constants.

use crate::value::{CaseId, Name, ShapeId, Symbols};

pub(crate) const NONE: CaseId = CaseId(0);
pub(crate) const SOME: CaseId = CaseId(1);
pub(crate) const JSON_NULL: CaseId = CaseId(2);
pub(crate) const JSON_BOOL: CaseId = CaseId(3);
pub(crate) const JSON_NUMBER: CaseId = CaseId(4);
pub(crate) const JSON_STRING: CaseId = CaseId(5);
pub(crate) const JSON_ARRAY: CaseId = CaseId(6);
pub(crate) const JSON_OBJECT: CaseId = CaseId(7);

pub(crate) const KEY: Name = Name(8);
pub(crate) const VALUE: Name = Name(9);

/// `{ key; value }`: entries of tables and members of JSON objects.
pub(crate) const ENTRY: ShapeId = ShapeId(0);

/// Interns the names of this file into fresh symbols.
pub(crate) fn intern(symbols: &mut Symbols) {
    for (tag, arguments) in [
        ("None", 0),
        ("Some", 1),
        ("Null", 0),
        ("Bool", 1),
        ("Number", 1),
        ("String", 1),
        ("Array", 1),
        ("Object", 1),
    ] {
        symbols.case(tag, arguments);
    }
    let key = symbols.name("key");
    let value = symbols.name("value");
    symbols.shape(&[key, value]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_names() {
        let mut symbols = Symbols::default();
        intern(&mut symbols);
        for (case, tag, arguments) in [
            (NONE, "None", 0),
            (SOME, "Some", 1),
            (JSON_NULL, "Null", 0),
            (JSON_BOOL, "Bool", 1),
            (JSON_NUMBER, "Number", 1),
            (JSON_STRING, "String", 1),
            (JSON_ARRAY, "Array", 1),
            (JSON_OBJECT, "Object", 1),
        ] {
            assert_eq!(symbols.case(tag, arguments), case, "{tag}");
        }
        assert_eq!(symbols.name("key"), KEY);
        assert_eq!(symbols.name("value"), VALUE);
        assert_eq!(symbols.shape(&[VALUE, KEY]), (ENTRY, false));
    }
}
