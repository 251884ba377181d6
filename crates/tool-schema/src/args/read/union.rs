//! Reader of unions in serde's four enum representations.

use super::super::bytes;
use super::super::object::is_newtype;
use super::super::scan::Cursor;
use super::super::sink::Scope;
use super::super::union::{find, starts};
use super::reader::Step;
use super::{Node, Reader, Unfit};
use crate::schema::{Kind, Schema, Tagging, Variant};

/// The node of a variant without a payload.
const NOTHING: &Schema = &Schema::new(Kind::Null);

/// A callback that reads the payload of the variant with this index.
type ReadVariant<'f> = &'f mut dyn FnMut(&mut Reader<'_>, usize, Node<'_>) -> Result<(), Unfit>;

impl Reader<'_> {
    /// Reads a variant of a union. `read` receives the variant's index and the node of its payload, with the cursor at the
    /// payload.
    ///
    /// # Errors
    ///
    /// Fails if the value is not a variant, or its payload does not match.
    #[inline]
    pub fn variant<T>(
        &mut self,
        node: Node<'_>,
        read: impl Fn(&mut Reader<'_>, usize, Node<'_>) -> Result<T, Unfit>,
    ) -> Result<T, Unfit> {
        let mut value = None;
        self.union(node, &mut |reader, number, node| {
            value = Some(read(reader, number, node)?);
            Ok(())
        })?;
        value.ok_or(Unfit(()))
    }

    fn union(&mut self, node: Node<'_>, read: ReadVariant<'_>) -> Result<(), Unfit> {
        self.open(node, &mut |reader, node| {
            let Kind::Union(union) = &node.schema.kind else {
                return Err(Unfit(()));
            };
            let variants = union.variants;
            match union.tagging {
                Tagging::External => reader.external(node, variants, read),
                Tagging::Internal { tag } => reader.internal(node, variants, tag, read),
                Tagging::Adjacent { tag, content } => {
                    reader.adjacent(node, variants, (tag, content), read)
                }
                Tagging::Untagged => reader.untagged(node, variants, read),
            }
        })
    }

    fn external(
        &mut self,
        node: Node<'_>,
        variants: &[Variant],
        read: ReadVariant<'_>,
    ) -> Result<(), Unfit> {
        match self.walk.cursor.peek() {
            b'"' => {
                let span = self.walk.cursor.string()?;
                let name = bytes::decode(self.walk.cursor.slice(span.start, span.end));
                let known = variants
                    .iter()
                    .position(|variant| variant.schema.is_none() && variant.name == name);
                read(self, known.ok_or(Unfit(()))?, payload(node, NOTHING))
            }
            b'{' => {
                self.walk.cursor.open()?;
                self.walk.cursor.space();
                let name = self.key()?;
                let known = variants.iter().enumerate().find_map(|(number, variant)| {
                    let schema = variant.schema?;
                    (variant.name == name).then_some((number, schema))
                });
                let (number, schema) = known.ok_or(Unfit(()))?;
                self.content(&name, number, payload(node, schema), read)?;
                if self.walk.cursor.another(b'}')? {
                    return Err(Unfit(()));
                }
                self.walk.cursor.close();
                Ok(())
            }
            _ => Err(Unfit(())),
        }
    }

    /// Reads the value of the key `key`.
    fn content(
        &mut self,
        key: &str,
        number: usize,
        node: Node<'_>,
        read: ReadVariant<'_>,
    ) -> Result<(), Unfit> {
        let value = read(self, number, node);
        value.inspect_err(|_| self.passed(|| Step::Key(key.to_owned())))
    }

    fn internal(
        &mut self,
        node: Node<'_>,
        variants: &[Variant],
        tag: &str,
        read: ReadVariant<'_>,
    ) -> Result<(), Unfit> {
        let (number, variant) = self.tagged(variants, tag)?;
        let Some(schema) = variant.schema else {
            self.walk.object(node.place(), &[], Some(tag))?;
            return read(self, number, payload(node, NOTHING));
        };
        if !is_record(schema, node) {
            return Err(Unfit(()));
        }
        let fields = Node {
            tag: Some(tag),
            ..payload(node, schema)
        };
        read(self, number, fields)
    }

    fn adjacent(
        &mut self,
        node: Node<'_>,
        variants: &[Variant],
        (tag, content): (&str, &str),
        read: ReadVariant<'_>,
    ) -> Result<(), Unfit> {
        let (number, variant) = self.tagged(variants, tag)?;
        let Some(schema) = variant.schema else {
            self.walk.object(node.place(), &[], Some(tag))?;
            return read(self, number, payload(node, NOTHING));
        };
        let node = payload(node, schema);
        let mut is_read = false;
        let mut tagged = false;
        self.walk.cursor.open()?;
        self.walk.cursor.space();
        loop {
            let name = self.key()?;
            if name == content && !is_read {
                is_read = true;
                self.content(&name, number, node, read)?;
            } else if name == tag && !tagged {
                tagged = true;
                self.walk.cursor.skip()?;
            } else {
                return Err(Unfit(()));
            }
            if !self.walk.cursor.another(b'}')? {
                break;
            }
        }
        self.walk.cursor.close();
        if is_read {
            return Ok(());
        }
        if !schema.is_optional() {
            return Err(Unfit(()));
        }
        if is_newtype(schema) {
            self.edited();
        }
        self.null_of(number, node, read)
    }

    /// Reads an absent payload as null.
    fn null_of(
        &mut self,
        number: usize,
        node: Node<'_>,
        read: ReadVariant<'_>,
    ) -> Result<(), Unfit> {
        let cursor = std::mem::replace(&mut self.walk.cursor, Cursor::new("null"));
        let value = read(self, number, node);
        self.walk.cursor = cursor;
        value
    }

    /// Finds the variant that the tag names. The cursor does not move.
    fn tagged<'v>(
        &mut self,
        variants: &'v [Variant],
        tag: &str,
    ) -> Result<(usize, &'v Variant), Unfit> {
        if self.walk.cursor.peek() != b'{' {
            return Err(Unfit(()));
        }
        let mut ahead = self.walk.cursor.clone();
        let (from, to) = find(&mut ahead, tag).ok_or(Unfit(()))?;
        let raw = ahead.slice(from, to);
        let raw = raw
            .strip_prefix('"')
            .and_then(|raw| raw.strip_suffix('"'))
            .ok_or(Unfit(()))?;
        let name = bytes::decode(raw);
        let mut variants = variants.iter().enumerate();
        let known = variants.find(|(_, variant)| variant.name == name);
        known.ok_or(Unfit(()))
    }

    fn untagged(
        &mut self,
        node: Node<'_>,
        variants: &[Variant],
        read: ReadVariant<'_>,
    ) -> Result<(), Unfit> {
        let byte = self.walk.cursor.peek();
        for (number, variant) in variants.iter().enumerate() {
            let Some(schema) = variant.schema else {
                if byte == b'n' {
                    self.null()?;
                    return read(self, number, payload(node, NOTHING));
                }
                continue;
            };
            if !starts(schema, byte) {
                continue;
            }
            if self.walk.is_exhausted() {
                return Err(Unfit(()));
            }
            let before = self.walk.cursor.clone();
            let edits = self.walk.sink.edits.len();
            let inner = Node {
                bounds: node.bounds,
                ..payload(node, schema)
            };
            if self.attempt(|reader| read(reader, number, inner)).is_ok() {
                return Ok(());
            }
            self.walk.wasted += self.walk.cursor.at - before.at + 1;
            self.walk.cursor = before;
            self.walk.sink.edits.truncate(edits);
        }
        Err(Unfit(()))
    }
}

/// Returns the node of a payload.
const fn payload<'n>(node: Node<'n>, schema: &'n Schema) -> Node<'n> {
    Node::new(schema, node.scope)
}

/// Returns whether a payload is a closed record, which may have a tag next to its fields.
fn is_record(schema: &Schema, node: Node<'_>) -> bool {
    match &schema.kind {
        Kind::Object(_) => true,
        Kind::Constrained(inner, _) => is_record(inner, node),
        Kind::Ref(name) => Scope::named(node.scope, name, schema.module)
            .any(|here| matches!(here.schema.kind, Kind::Object(_))),
        _ => false,
    }
}

/// Removes one key from an object.
pub(super) fn without(text: &str, without: &str) -> String {
    filtered(text, |key| key != without)
}

/// Keeps only some keys of an object.
pub(super) fn filtered(text: &str, keeps: impl Fn(&str) -> bool) -> String {
    let mut cursor = Cursor::new(text);
    let mut kept = String::with_capacity(text.len());
    kept.push('{');
    let mut each = || {
        cursor.open()?;
        let mut more = cursor.space() != b'}';
        while more {
            let start = cursor.at;
            let name = cursor.key()?;
            let kept_too = keeps(&bytes::decode(cursor.slice(name.start, name.end)));
            cursor.colon()?;
            cursor.skip()?;
            if kept_too {
                if kept.len() > 1 {
                    kept.push(',');
                }
                kept.push_str(cursor.slice(start, cursor.at));
            }
            more = cursor.another(b'}')?;
        }
        Ok::<_, super::super::scan::Stop>(())
    };
    // The text is a valid JSON object, so this cannot fail.
    let _ = each();
    kept.push('}');
    kept
}
