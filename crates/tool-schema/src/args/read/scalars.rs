//! Reader of strings, numbers and enum values.

use std::borrow::Cow;

use super::super::bytes::{self, equal};
use super::super::number;
use super::super::scan::Cursor;
use super::{Node, Reader, Unfit};
use crate::schema::Kind;

impl<'t> Reader<'t> {
    /// Reads a string that matches its node.
    #[inline]
    pub(super) fn text(&mut self, node: Node<'_>) -> Result<Cow<'t, str>, Unfit> {
        if node.bounds.is_none()
            && matches!(node.schema.kind, Kind::String)
            && let Some(span) = self.walk.cursor.plain()
        {
            return Ok(Cow::Borrowed(self.walk.cursor.slice(span.start, span.end)));
        }
        self.text_slow(node)
    }

    #[inline(never)]
    fn text_slow(&mut self, node: Node<'_>) -> Result<Cow<'t, str>, Unfit> {
        let start = self.walk.cursor.at;
        if self.walk.cursor.peek() != b'"' {
            return Err(Unfit(()));
        }
        self.walk.value(node.schema, node.bounds, node.scope)?;
        let inside = self.walk.cursor.slice(start + 1, self.walk.cursor.at - 1);
        Ok(bytes::decode(inside))
    }

    /// Reads a whole number that matches its node, as its sign and its absolute value.
    #[inline]
    fn integer(&mut self, node: Node<'_>) -> Result<(bool, u128), Unfit> {
        if node.bounds.is_none()
            && let Kind::Integer(integer) = &node.schema.kind
            && let Some((value, end)) = self.walk.cursor.counted()
            && u128::from(value) <= integer.max
            && integer.min <= 1
        {
            self.walk.cursor.at = end;
            return Ok((false, u128::from(value)));
        }
        self.integer_slow(node)
    }

    /// Reads a whole number of a primitive type.
    #[inline]
    pub(crate) fn primitive<T: TryFrom<u128> + TryFrom<i128>>(
        &mut self,
        node: Node<'_>,
    ) -> Result<T, Unfit> {
        let (negative, value) = self.integer(node)?;
        let value = if negative {
            number::signed((negative, value)).and_then(|value| value.try_into().ok())
        } else {
            value.try_into().ok()
        };
        value.ok_or(Unfit(()))
    }

    #[inline(never)]
    fn integer_slow(&mut self, node: Node<'_>) -> Result<(bool, u128), Unfit> {
        let text = self.number(node)?;
        let number = Cursor::new(text).number()?;
        number::whole(&number, text).ok_or(Unfit(()))
    }

    /// Reads a number that matches its node. Returns its text.
    pub(super) fn number(&mut self, node: Node<'_>) -> Result<&'t str, Unfit> {
        let start = self.walk.cursor.at;
        if !matches!(self.walk.cursor.peek(), b'-' | b'0'..=b'9') {
            return Err(Unfit(()));
        }
        self.walk.value(node.schema, node.bounds, node.scope)?;
        Ok(self.walk.cursor.slice(start, self.walk.cursor.at))
    }

    /// Reads `true` or `false`.
    #[inline]
    pub(super) fn boolean(&mut self) -> Result<bool, Unfit> {
        let value = self.walk.cursor.peek() == b't';
        self.walk
            .cursor
            .word(if value { "true" } else { "false" })?;
        Ok(value)
    }

    pub(super) fn null(&mut self) -> Result<(), Unfit> {
        Ok(self.walk.cursor.word("null")?)
    }

    /// Reads a string of an enum. Returns the index of its variant.
    ///
    /// # Errors
    ///
    /// Fails if the string is not one of the enum's values.
    pub fn choice(&mut self, node: Node<'_>) -> Result<usize, Unfit> {
        let mut variant = None;
        self.open(node, &mut |reader, node| {
            variant = Some(reader.choice_of(node)?);
            Ok(())
        })?;
        variant.ok_or(Unfit(()))
    }

    fn choice_of(&mut self, node: Node<'_>) -> Result<usize, Unfit> {
        let Kind::Enum(values) = &node.schema.kind else {
            return Err(Unfit(()));
        };
        let cursor = &mut self.walk.cursor;
        if let Some(span) = cursor.plain() {
            let text = cursor.slice(span.start, span.end).as_bytes();
            let known = values
                .iter()
                .position(|known| equal(known.value.as_bytes(), text));
            return known.ok_or(Unfit(()));
        }
        if cursor.peek() != b'"' {
            return Err(Unfit(()));
        }
        let span = cursor.string()?;
        let text = bytes::decode(cursor.slice(span.start, span.end));
        let known = values.iter().position(|known| known.value == text);
        known.ok_or(Unfit(()))
    }

    /// Reads a number of an enum. Returns the index of its variant.
    ///
    /// # Errors
    ///
    /// Fails if the number is not one of the enum's values.
    pub fn integer_choice(&mut self, node: Node<'_>) -> Result<usize, Unfit> {
        let mut variant = None;
        self.open(node, &mut |reader, node| {
            let Kind::IntegerEnum(values) = &node.schema.kind else {
                return Err(Unfit(()));
            };
            let text = reader.number(node)?;
            let number = Cursor::new(text).number()?;
            let value = number::whole(&number, text).and_then(number::signed);
            variant = value.and_then(|value| values.iter().position(|known| known.value == value));
            Ok(())
        })?;
        variant.ok_or(Unfit(()))
    }
}
