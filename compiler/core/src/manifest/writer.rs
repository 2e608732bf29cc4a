//! The canonical form (RFC 8785) straight from values that `serde` can serialise.
//!
//! [`super::json::canonical`] does the same for a JSON value; going through one would build and
//! drop a map per object of the manifest. A test holds the two to equal bytes.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;

use serde::Serialize;
use serde::ser;

use super::json::{MAX_INTEGER, NotCanonical, string, utf16};

/// The canonical bytes of a value.
///
/// # Errors
/// For a number that is no integer from 0 to 2^53-1, and for what JSON can not hold: a member name
/// that is no string, bytes.
pub(super) fn canonical(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let mut writer = Writer::default();
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

/// Why a value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// A number outside the range.
    #[error(transparent)]
    Number(#[from] NotCanonical),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl ser::Error for Failure {
    fn custom<T: Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }
}

#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    /// Members of the open objects, those of the innermost last. They are not kept in [`Members`]:
    /// a matcher is many objects deep, and the serialisers of its kinds would each hold a list on
    /// the stack.
    members: Vec<(Cow<'static, str>, Range<usize>)>,
    /// Reused when the members of an object have to be moved.
    scratch: Vec<u8>,
}

impl Writer {
    fn integer(&mut self, integer: u64) -> Result<(), Failure> {
        if integer > MAX_INTEGER {
            return Err(NotCanonical(integer.to_string()).into());
        }
        self.out.extend_from_slice(integer.to_string().as_bytes());
        Ok(())
    }

    fn signed(&mut self, integer: i64) -> Result<(), Failure> {
        match u64::try_from(integer) {
            Ok(integer) => self.integer(integer),
            Err(_) => Err(NotCanonical(integer.to_string()).into()),
        }
    }

    fn items(&mut self) -> Items<'_> {
        self.out.push(b'[');
        Items {
            writer: self,
            first: true,
            wrapped: false,
        }
    }

    fn members(&mut self) -> Members<'_> {
        self.out.push(b'{');
        Members {
            start: self.out.len(),
            base: self.members.len(),
            writer: self,
            sorted: true,
            wrapped: false,
        }
    }

    /// Puts the members from index `base` on, which were written from `start` on, in order.
    fn sort(&mut self, start: usize, base: usize) {
        let Self {
            out,
            members,
            scratch,
        } = self;
        let members = members.get_mut(base..).unwrap_or_default();
        members.sort_by(|(left, _), (right, _)| utf16(left, right));
        scratch.clear();
        for (index, (_, range)) in members.iter().enumerate() {
            if index > 0 {
                scratch.push(b',');
            }
            scratch.extend_from_slice(out.get(range.clone()).unwrap_or_default());
        }
        out.truncate(start);
        out.extend_from_slice(scratch);
    }

    /// `{"VARIANT":`, the outer object of an externally tagged variant.
    fn wrap(&mut self, variant: &str) {
        self.out.push(b'{');
        string(variant, &mut self.out);
        self.out.push(b':');
    }
}

/// Elements of an array.
struct Items<'w> {
    writer: &'w mut Writer,
    first: bool,
    wrapped: bool,
}

impl Items<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        if !std::mem::take(&mut self.first) {
            self.writer.out.push(b',');
        }
        value.serialize(&mut *self.writer)
    }

    fn close(self) {
        let end: &[u8] = if self.wrapped { b"]}" } else { b"]" };
        self.writer.out.extend_from_slice(end);
    }
}

/// Members of an object: written as they come, moved at its end unless they came sorted.
struct Members<'w> {
    writer: &'w mut Writer,
    start: usize,
    /// Index of the first member in [`Writer::members`].
    base: usize,
    sorted: bool,
    wrapped: bool,
}

impl Members<'_> {
    fn name(&mut self, name: Cow<'static, str>) {
        let Writer { out, members, .. } = &mut *self.writer;
        if let Some((before, _)) = members.get(self.base..).and_then(<[_]>::last) {
            self.sorted &= utf16(before, &name).is_lt();
            out.push(b',');
        }
        let from = out.len();
        string(&name, out);
        out.push(b':');
        members.push((name, from..from));
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        value.serialize(&mut *self.writer)?;
        let end = self.writer.out.len();
        if let Some((_, range)) = self.writer.members.last_mut() {
            range.end = end;
        }
        Ok(())
    }

    fn close(self) {
        let writer = self.writer;
        if !self.sorted {
            writer.sort(self.start, self.base);
        }
        writer.members.truncate(self.base);
        let end: &[u8] = if self.wrapped { b"}}" } else { b"}" };
        writer.out.extend_from_slice(end);
    }
}

impl<'w> ser::Serializer for &'w mut Writer {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Items<'w>;
    type SerializeTuple = Items<'w>;
    type SerializeTupleStruct = Items<'w>;
    type SerializeTupleVariant = Items<'w>;
    type SerializeMap = Members<'w>;
    type SerializeStruct = Members<'w>;
    type SerializeStructVariant = Members<'w>;

    fn serialize_bool(self, value: bool) -> Result<(), Failure> {
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.out.extend_from_slice(word);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Failure> {
        self.signed(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Failure> {
        self.signed(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Failure> {
        self.signed(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Failure> {
        self.signed(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Failure> {
        self.integer(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Failure> {
        self.integer(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Failure> {
        self.integer(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Failure> {
        self.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Failure> {
        Err(NotCanonical(value.to_string()).into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Failure> {
        Err(NotCanonical(value.to_string()).into())
    }

    fn serialize_char(self, value: char) -> Result<(), Failure> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Failure> {
        string(value, &mut self.out);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Failure> {
        Err(Failure::Other("bytes have no canonical form".to_owned()))
    }

    fn serialize_none(self) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failure> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Failure> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        self.wrap(variant);
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'w>, Failure> {
        Ok(self.items())
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'w>, Failure> {
        Ok(self.items())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'w>, Failure> {
        Ok(self.items())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'w>, Failure> {
        self.wrap(variant);
        let mut items = self.items();
        items.wrapped = true;
        Ok(items)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'w>, Failure> {
        Ok(self.members())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'w>, Failure> {
        Ok(self.members())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w>, Failure> {
        self.wrap(variant);
        let mut members = self.members();
        members.wrapped = true;
        Ok(members)
    }
}

macro_rules! sequence {
    ($($name:ident: $method:ident),+) => {
        $(
            impl ser::$name for Items<'_> {
                type Ok = ();
                type Error = Failure;

                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
                    self.item(value)
                }

                fn end(self) -> Result<(), Failure> {
                    self.close();
                    Ok(())
                }
            }
        )+
    };
}

sequence!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

macro_rules! structure {
    ($($name:ident),+) => {
        $(
            impl ser::$name for Members<'_> {
                type Ok = ();
                type Error = Failure;

                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    name: &'static str,
                    value: &T,
                ) -> Result<(), Failure> {
                    self.name(Cow::Borrowed(name));
                    self.value(value)
                }

                fn end(self) -> Result<(), Failure> {
                    self.close();
                    Ok(())
                }
            }
        )+
    };
}

structure!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        let name = serde_json::to_value(key).map_err(<Failure as ser::Error>::custom)?;
        match name {
            serde_json::Value::String(name) => {
                self.name(Cow::Owned(name));
                Ok(())
            }
            _ => Err(Failure::Other("a member name is no string".to_owned())),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.value(value)
    }

    fn end(self) -> Result<(), Failure> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::manifest::json;

    #[derive(Serialize)]
    struct Sample {
        zebra: Option<u64>,
        apple: Vec<Kind>,
        middle: (bool, char),
    }

    #[derive(Serialize)]
    enum Kind {
        Unit,
        New(u8),
        Pair(u8, u8),
        Named { b: u8, a: u8 },
    }

    #[test]
    fn every_shape_agrees_with_the_writer_of_values() {
        let sample = Sample {
            zebra: None,
            apple: vec![
                Kind::Unit,
                Kind::New(1),
                Kind::Pair(1, 2),
                Kind::Named { b: 1, a: 2 },
            ],
            middle: (true, 'é'),
        };
        let bytes = canonical(&sample).unwrap();
        let value = serde_json::to_value(&sample).unwrap();
        assert_eq!(bytes, json::canonical(&value).unwrap());
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"apple":["Unit",{"New":1},{"Pair":[1,2]},{"Named":{"a":2,"b":1}}],"middle":[true,"é"],"zebra":null}"#
        );
    }

    #[test]
    fn the_deepest_matcher_fits_a_small_stack() {
        let mut matcher = crate::manifest::Matcher::AnyCommand {};
        for depth in 0..64 {
            let of = vec![matcher];
            matcher = match depth % 2 {
                0 => crate::manifest::Matcher::All { of },
                _ => crate::manifest::Matcher::Any { of },
            };
        }
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let bytes = small.spawn(move || canonical(&matcher).unwrap()).unwrap();
        assert!(bytes.join().unwrap().starts_with(b"{\"kind\":\"any\""));
    }

    #[test]
    fn what_has_no_canonical_form() {
        for value in [json!(1.5), json!(-1), json!(MAX_INTEGER + 1)] {
            let error = canonical(&value).unwrap_err();
            assert!(matches!(error, Failure::Number(_)), "{value}: {error}");
        }
        assert!(canonical(&MAX_INTEGER).is_ok());
        let odd = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(canonical(&odd).is_err());
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..=MAX_INTEGER).prop_map(Value::from),
            "[a\"\\\\\\x00-\\x1fé\u{e000}\u{10000}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-c\u{e000}\u{10000}\"]{0,3}", inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn agrees_with_the_writer_of_values(value in values()) {
            prop_assert_eq!(canonical(&value).unwrap(), json::canonical(&value).unwrap());
        }
    }
}
