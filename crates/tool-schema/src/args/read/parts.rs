//! Reader of records, whose fields are a list of parts.

use std::borrow::Cow;

use super::super::bytes;
use super::super::object::is_newtype;
use super::reader::{Slot, Step, Target};
use super::{Node, Reader, Unfit};
use crate::schema::{self, Kind, StrictSchema};

/// A field, and the way to read its value.
pub trait Field {
    /// The type of the field's value.
    type Value;

    /// Reads the value under the cursor.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node.
    fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self::Value, Unfit>;

    /// Returns the value of an absent key.
    ///
    /// # Errors
    ///
    /// Fails if the key is required.
    fn absent(
        reader: &mut Reader<'_>,
        field: &schema::Field,
        node: Node<'_>,
    ) -> Result<Self::Value, Unfit> {
        let mut value = None;
        reader.absent(field, node, &mut Slot::<Self>(&mut value))?;
        value.ok_or(Unfit(()))
    }
}

/// Returns the JSON text that is read for an absent key: the default or null.
fn absent_text(reader: &mut Reader<'_>, field: &schema::Field) -> Option<&'static str> {
    if let Some(default) = field.default {
        reader.edited();
        return Some(default.text);
    }
    if !field.schema.is_optional() {
        return None;
    }
    if is_null_if_absent(field) {
        reader.edited();
    }
    Some("null")
}

/// Returns whether the guard adds a null if the key is absent.
const fn is_null_if_absent(field: &schema::Field) -> bool {
    field.null_if_absent || is_newtype(field.schema)
}

/// A part of a record (one field, or the fields of a flattened record), or a list of parts: `(One<A>, (Flat<B>, ()))`.
pub trait Parts {
    /// The value of a part, or the values of a list: `(A, (B, ()))`.
    type Values;
    /// The values that were read so far.
    type Slots: Default;
    /// The number of fields of the record that belong to the part.
    const WIDTH: usize;

    /// Reads fields while their keys come in order. Stops at the closing brace, with `more` set to `false`, or at any other key.
    ///
    /// # Errors
    ///
    /// Fails if a value does not match its node.
    fn in_order(
        slots: &mut Self::Slots,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
        more: &mut bool,
    ) -> Result<(), Unfit>;

    /// Reads the value of the key with this index.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match its node, or the key was read before.
    fn fill(
        slots: &mut Self::Slots,
        number: usize,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit>;

    /// Reads the values that are still missing: the values of absent keys, and flattened records.
    ///
    /// # Errors
    ///
    /// Fails if a required key is absent, or a flattened record does not match its node.
    fn complete(
        slots: &mut Self::Slots,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit>;

    /// Returns the values, or `None` if some were not read.
    fn values(slots: Self::Slots) -> Option<Self::Values>;
}

/// A single field as a part.
#[derive(Debug)]
pub struct One<F>(F);

impl<F: Field> Parts for One<F> {
    type Values = F::Value;
    type Slots = Option<F::Value>;
    const WIDTH: usize = 1;

    #[inline]
    fn in_order(
        slot: &mut Option<F::Value>,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
        more: &mut bool,
    ) -> Result<(), Unfit> {
        if let [field, ..] = fields
            && field.input
            && reader.walk.cursor.leap(field.name)
        {
            reader.walk.cursor.space();
            one::<F>(slot, reader, field, node)?;
            *more = reader.walk.cursor.another(b'}')?;
        }
        Ok(())
    }

    #[inline]
    fn fill(
        slot: &mut Option<F::Value>,
        _: usize,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        match fields {
            [field, ..] => one::<F>(slot, reader, field, node),
            [] => Err(Unfit(())),
        }
    }

    #[inline]
    fn complete(
        slot: &mut Option<F::Value>,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        if slot.is_some() {
            return Ok(());
        }
        absent::<F>(slot, reader, fields, node)
    }

    #[inline]
    fn values(slot: Option<F::Value>) -> Option<F::Value> {
        slot
    }
}

#[cold]
#[inline(never)]
fn absent<F: Field>(
    slot: &mut Option<F::Value>,
    reader: &mut Reader<'_>,
    fields: &[schema::Field],
    node: Node<'_>,
) -> Result<(), Unfit> {
    let field = fields.first().ok_or(Unfit(()))?;
    *slot = Some(F::absent(reader, field, node)?);
    Ok(())
}

/// Reads the value of a key; fails if the key was read before. The function is compiled once for each field type, not for each record.
#[inline(never)]
fn one<F: Field>(
    slot: &mut Option<F::Value>,
    reader: &mut Reader<'_>,
    field: &schema::Field,
    node: Node<'_>,
) -> Result<(), Unfit> {
    if slot.is_some() {
        return Err(Unfit(()));
    }
    if let Some(default) = field.default
        && reader.walk.cursor.peek() == b'n'
    {
        return reader.defaulted(default.text, field, node, &mut Slot::<F>(slot));
    }
    match F::read(reader, Node::new(field.schema, node.scope)) {
        Ok(value) => {
            *slot = Some(value);
            Ok(())
        }
        Err(unfit) => {
            reader.passed_key(field);
            Err(unfit)
        }
    }
}

/// The fields of a flattened record. They are skipped while the outer record is read. Afterwards the object is read again from its start, and the
/// outer record's own fields are skipped.
#[derive(Debug)]
pub struct Flat<F, T>(F, T);

impl<T: StrictSchema, F: Field<Value = T>> Parts for Flat<F, T> {
    type Values = T;
    /// The indexes of the keys that were skipped, and the value.
    type Slots = (Vec<usize>, Option<T>);
    const WIDTH: usize = match T::SCHEMA.kind {
        Kind::Object(fields) => fields.len(),
        _ => 0,
    };

    fn in_order(
        _: &mut Self::Slots,
        _: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
        _: &mut bool,
    ) -> Result<(), Unfit> {
        Ok(())
    }

    fn fill(
        (seen, _): &mut Self::Slots,
        number: usize,
        reader: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
    ) -> Result<(), Unfit> {
        if seen.contains(&number) {
            return Err(Unfit(()));
        }
        seen.push(number);
        Ok(reader.walk.cursor.skip()?)
    }

    fn complete(
        (_, value): &mut Self::Slots,
        reader: &mut Reader<'_>,
        _: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        let end = reader.walk.cursor.at;
        reader.walk.cursor.at = node.record;
        let part = Node {
            laid: true,
            ..Node::new(T::SCHEMA, node.scope)
        };
        *value = Some(F::read(reader, part)?);
        reader.walk.cursor.at = end;
        Ok(())
    }

    fn values((_, value): Self::Slots) -> Option<T> {
        value
    }
}

/// The value of an absent key, as serde's attributes define it.
pub trait Absent {
    /// The type of the value.
    type Value;

    /// Creates the value for an absent key.
    fn value() -> Self::Value;
}

/// Uses the type's `Default` for an absent key.
#[derive(Debug)]
pub struct ByDefault<T>(T);

impl<T: Default> Absent for ByDefault<T> {
    type Value = T;

    fn value() -> T {
        T::default()
    }
}

/// A field for which an [`Absent`] creates the value of an absent key, unless the guard adds a null for that key.
impl<F: Field, A: Absent<Value = F::Value>> Field for (F, A) {
    type Value = F::Value;

    #[inline]
    fn read(reader: &mut Reader<'_>, node: Node<'_>) -> Result<F::Value, Unfit> {
        F::read(reader, node)
    }

    fn absent(
        reader: &mut Reader<'_>,
        field: &schema::Field,
        node: Node<'_>,
    ) -> Result<F::Value, Unfit> {
        if field.input && is_null_if_absent(field) {
            return F::absent(reader, field, node);
        }
        Ok(A::value())
    }
}

/// A field that has no key in the input (`#[serde(skip)]`).
#[derive(Debug)]
pub struct Skipped<F>(F);

impl<F: Field> Parts for Skipped<F> {
    type Values = F::Value;
    type Slots = Option<F::Value>;
    const WIDTH: usize = 0;

    fn in_order(
        _: &mut Option<F::Value>,
        _: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
        _: &mut bool,
    ) -> Result<(), Unfit> {
        Ok(())
    }

    fn fill(
        _: &mut Option<F::Value>,
        _: usize,
        _: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
    ) -> Result<(), Unfit> {
        Err(Unfit(()))
    }

    fn complete(
        slot: &mut Option<F::Value>,
        reader: &mut Reader<'_>,
        _: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        const NONE: &schema::Field =
            &schema::Field::new("", schema::Text::EMPTY, &schema::Schema::new(Kind::Never));
        *slot = Some(F::absent(reader, NONE, node)?);
        Ok(())
    }

    fn values(slot: Option<F::Value>) -> Option<F::Value> {
        slot
    }
}

impl Parts for () {
    type Values = ();
    type Slots = ();
    const WIDTH: usize = 0;

    #[inline]
    fn in_order(
        (): &mut (),
        _: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
        _: &mut bool,
    ) -> Result<(), Unfit> {
        Ok(())
    }

    fn fill(
        (): &mut (),
        _: usize,
        _: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
    ) -> Result<(), Unfit> {
        Err(Unfit(()))
    }

    #[inline]
    fn complete(
        (): &mut (),
        _: &mut Reader<'_>,
        _: &[schema::Field],
        _: Node<'_>,
    ) -> Result<(), Unfit> {
        Ok(())
    }

    #[inline]
    fn values((): ()) -> Option<()> {
        Some(())
    }
}

impl<P: Parts, R: Parts> Parts for (P, R) {
    type Values = (P::Values, R::Values);
    type Slots = (P::Slots, R::Slots);
    const WIDTH: usize = P::WIDTH + R::WIDTH;

    #[inline]
    fn in_order(
        slots: &mut Self::Slots,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
        more: &mut bool,
    ) -> Result<(), Unfit> {
        let (own, rest) = split::<P>(fields);
        P::in_order(&mut slots.0, reader, own, node, more)?;
        if *more {
            R::in_order(&mut slots.1, reader, rest, node, more)?;
        }
        Ok(())
    }

    fn fill(
        slots: &mut Self::Slots,
        number: usize,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        let (own, rest) = split::<P>(fields);
        match number.checked_sub(P::WIDTH) {
            None => P::fill(&mut slots.0, number, reader, own, node),
            Some(number) => R::fill(&mut slots.1, number, reader, rest, node),
        }
    }

    #[inline]
    fn complete(
        slots: &mut Self::Slots,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        let (own, rest) = split::<P>(fields);
        P::complete(&mut slots.0, reader, own, node)?;
        R::complete(&mut slots.1, reader, rest, node)
    }

    #[inline]
    fn values(slots: Self::Slots) -> Option<Self::Values> {
        Some((P::values(slots.0)?, R::values(slots.1)?))
    }
}

#[inline]
fn split<P: Parts>(fields: &[schema::Field]) -> (&[schema::Field], &[schema::Field]) {
    fields.split_at_checked(P::WIDTH).unwrap_or((fields, &[]))
}

/// The slots of a record's fields, as a trait object for code that is compiled once for all records. Its methods correspond to the methods of
/// [`Parts`] with the same names.
trait Record {
    fn in_order(
        &mut self,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
        more: &mut bool,
    ) -> Result<(), Unfit>;

    fn fill(
        &mut self,
        number: usize,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit>;

    fn complete(
        &mut self,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit>;
}

/// The slots of the parts `P`.
struct Filled<P: Parts>(P::Slots);

impl<P: Parts> Record for Filled<P> {
    fn in_order(
        &mut self,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
        more: &mut bool,
    ) -> Result<(), Unfit> {
        P::in_order(&mut self.0, reader, fields, node, more)
    }

    fn fill(
        &mut self,
        number: usize,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        P::fill(&mut self.0, number, reader, fields, node)
    }

    fn complete(
        &mut self,
        reader: &mut Reader<'_>,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        P::complete(&mut self.0, reader, fields, node)
    }
}

impl Reader<'_> {
    /// Reads a closed record. `plain` must be false if a key needs an escape.
    ///
    /// # Errors
    ///
    /// Fails if a key is unknown, missing or repeated, or a value does not match its node.
    #[inline]
    pub fn fields<P: Parts>(&mut self, node: Node<'_>, plain: bool) -> Result<P::Values, Unfit> {
        let mut record = Filled::<P>(P::Slots::default());
        self.record(node, plain, &mut record)?;
        P::values(record.0).ok_or(Unfit(()))
    }

    fn record(
        &mut self,
        node: Node<'_>,
        plain: bool,
        record: &mut dyn Record,
    ) -> Result<(), Unfit> {
        self.open(node, &mut |reader, node| {
            reader.opened_record(node, plain, record)
        })
    }

    fn opened_record(
        &mut self,
        node: Node<'_>,
        plain: bool,
        record: &mut dyn Record,
    ) -> Result<(), Unfit> {
        let Kind::Object(fields) = &node.schema.kind else {
            return Err(Unfit(()));
        };
        if self.walk.cursor.peek() != b'{' {
            return Err(Unfit(()));
        }
        let node = Node {
            record: self.walk.cursor.at,
            ..node
        };
        self.walk.cursor.open()?;
        let mut more = self.walk.cursor.space() != b'}';
        if plain && more {
            record.in_order(self, fields, node, &mut more)?;
        }
        if more {
            self.keys(record, fields, node)?;
        }
        self.walk.cursor.close();
        record.complete(self, fields, node)
    }

    /// Reads keys in any order, up to the closing brace.
    fn keys(
        &mut self,
        record: &mut dyn Record,
        fields: &[schema::Field],
        node: Node<'_>,
    ) -> Result<(), Unfit> {
        let mut tag = node.tag;
        let mut expected = 0;
        loop {
            let name = self.key()?;
            match place(fields, expected, &name) {
                Some(number) => {
                    expected = number + 1;
                    record.fill(number, self, fields, node)?;
                }
                None if tag == Some(&*name) => {
                    tag = None;
                    self.walk.cursor.skip()?;
                }
                None if node.laid => self.walk.cursor.skip()?,
                None => return Err(Unfit(())),
            }
            if !self.walk.cursor.another(b'}')? {
                return Ok(());
            }
        }
    }

    #[cold]
    fn passed_key(&mut self, field: &schema::Field) {
        self.passed(|| Step::Key(field.name.to_owned()));
    }

    /// Reads the default of a field whose value is null.
    #[cold]
    fn defaulted(
        &mut self,
        default: &str,
        field: &schema::Field,
        node: Node<'_>,
        target: &mut dyn Target,
    ) -> Result<(), Unfit> {
        self.null()?;
        self.edited();
        self.stated(default, field, node, target)
    }

    /// Reads the default or null for an absent key.
    fn absent(
        &mut self,
        field: &schema::Field,
        node: Node<'_>,
        target: &mut dyn Target,
    ) -> Result<(), Unfit> {
        let text = absent_text(self, field).ok_or(Unfit(()))?;
        self.stated(text, field, node, target)
    }

    /// Reads a field from a text of the schema: its default, or null.
    fn stated(
        &mut self,
        text: &str,
        field: &schema::Field,
        node: Node<'_>,
        target: &mut dyn Target,
    ) -> Result<(), Unfit> {
        let node = Node::new(field.schema, node.scope);
        self.aside(text, node, &mut |reader, node| target.read(reader, node))
    }
}

impl<'t> Reader<'t> {
    /// Reads a key and its colon.
    pub(super) fn key(&mut self) -> Result<Cow<'t, str>, Unfit> {
        let key = self.walk.cursor.key()?;
        self.walk.cursor.colon()?;
        Ok(bytes::decode(self.walk.cursor.slice(key.start, key.end)))
    }
}

/// Returns the index of the input field with this name. First compares the name with the field at `expected`, because keys mostly come in order.
fn place(fields: &[schema::Field], expected: usize, name: &str) -> Option<usize> {
    let known = |field: &schema::Field| field.name == name && field.input;
    if fields.get(expected).is_some_and(known) {
        return Some(expected);
    }
    fields.iter().position(known)
}
