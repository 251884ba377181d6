//! Types of the standard library and of `serde_json`.

use std::borrow::{Borrow, Cow, ToOwned};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::num::{Saturating, Wrapping};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::super::list::Expected;
use super::reader::Step;
use super::{Decode, Node, Reader, Unfit};
use crate::schema::{Kind, MapKey};

/// Types that are made of text.
macro_rules! texts {
    ($($type:ty),+) => {$(
        impl Decode for $type {
            #[inline]
            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                Ok(reader.text(node)?.into_owned().into())
            }
        }
    )+};
}

texts!(String, Box<str>, Arc<str>, Rc<str>, PathBuf);

impl Decode for Box<Path> {
    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        PathBuf::decode(reader, node).map(PathBuf::into_boxed_path)
    }
}

impl Decode for char {
    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        reader.text(node)?.chars().next().ok_or(Unfit(()))
    }
}

impl Decode for bool {
    #[inline]
    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        if matches!(node.schema.kind, Kind::Boolean) {
            return reader.boolean();
        }
        reader.open(node, |reader, node| match node.schema.kind {
            Kind::Boolean => reader.boolean(),
            _ => Err(Unfit(())),
        })
    }
}

impl Decode for () {
    fn decode(reader: &mut Reader<'_>, _: Node<'_>) -> Result<Self, Unfit> {
        reader.null()
    }
}

impl<T: ?Sized> Decode for PhantomData<T> {
    fn decode(reader: &mut Reader<'_>, _: Node<'_>) -> Result<Self, Unfit> {
        reader.null().map(|()| Self)
    }
}

macro_rules! floats {
    ($($type:ty),+) => {$(
        impl Decode for $type {
            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                reader.number(node)?.parse().map_err(|_| Unfit(()))
            }
        }
    )+};
}

floats!(f32, f64);

/// Types around one value, which is read as itself.
macro_rules! around {
    ($($type:ident),+) => {$(
        impl<T: Decode> Decode for $type<T> {
            const ASKS: bool = T::ASKS;

            #[inline]
            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                T::decode(reader, node).map($type)
            }
        }
    )+};
}

around!(Wrapping, Saturating, Reverse);

macro_rules! pointers {
    ($($type:ident),+) => {$(
        impl<T: Decode> Decode for $type<T> {
            const ASKS: bool = T::ASKS;

            #[inline]
            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                T::decode(reader, node).map($type::new)
            }
        }

        impl<T: Decode> Decode for $type<[T]> {
            const ASKS: bool = T::ASKS;

            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                Vec::decode(reader, node).map(Into::into)
            }
        }
    )+};
}

pointers!(Box, Arc, Rc);

impl<T: ToOwned + ?Sized> Decode for Cow<'_, T>
where
    T::Owned: Decode + Borrow<T>,
{
    const ASKS: bool = T::Owned::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        T::Owned::decode(reader, node).map(Cow::Owned)
    }
}

impl<T: Decode> Decode for Option<T> {
    const ASKS: bool = T::ASKS;

    #[inline]
    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        reader.open(node, |reader, node| {
            let Kind::Optional(inner) = node.schema.kind else {
                return Err(Unfit(()));
            };
            if reader.walk.cursor.peek() == b'n' {
                return reader.null().map(|()| None);
            }
            let inner = Node {
                schema: inner,
                ..node
            };
            T::decode(reader, inner).map(Some)
        })
    }
}

impl Reader<'_> {
    /// Reads the items of a list.
    #[inline]
    pub(crate) fn items<T: Decode>(
        &mut self,
        node: Node<'_>,
        mut push: impl FnMut(T),
    ) -> Result<(), Unfit> {
        self.open(node, |reader, node| {
            let Kind::Array {
                items,
                unique,
                exactly,
            } = node.schema.kind
            else {
                return Err(Unfit(()));
            };
            if reader.walk.cursor.peek() != b'[' {
                return Err(Unfit(()));
            }
            let start = reader.walk.cursor.at;
            let item = Node::new(items, node.scope);
            reader.walk.cursor.open()?;
            let mut count = 0;
            let mut more = reader.walk.cursor.space() != b']';
            while more {
                push(reader.item(count, item)?);
                count += 1;
                more = reader.walk.cursor.another(b']')?;
            }
            reader.walk.cursor.close();
            let expected = Expected { unique, exactly };
            Ok(reader.walk.counted(node.place(), expected, start, count)?)
        })
    }

    #[inline]
    fn item<T: Decode>(&mut self, index: usize, node: Node<'_>) -> Result<T, Unfit> {
        let value = T::decode(self, node);
        if value.is_err() {
            self.passed(|| Step::Item(index));
        }
        value
    }

    /// Reads a list of fixed shape.
    fn tuple<T>(
        &mut self,
        node: Node<'_>,
        read: impl FnOnce(&mut Self, Node<'_>, &[&'static crate::schema::Schema]) -> Result<T, Unfit>,
    ) -> Result<T, Unfit> {
        self.open(node, |reader, node| {
            let Kind::Tuple(items) = node.schema.kind else {
                return Err(Unfit(()));
            };
            if reader.walk.cursor.peek() != b'[' {
                return Err(Unfit(()));
            }
            reader.walk.cursor.open()?;
            let value = read(reader, node, items)?;
            reader.walk.cursor.close();
            Ok(value)
        })
    }

    /// Reads the item of a tuple with this number, and the comma or bracket behind it.
    fn element<T: Decode>(
        &mut self,
        node: Node<'_>,
        items: &[&'static crate::schema::Schema],
        number: usize,
    ) -> Result<T, Unfit> {
        let schema = items.get(number).ok_or(Unfit(()))?;
        self.walk.cursor.space();
        let value = self.item(number, Node::new(schema, node.scope))?;
        let more = self.walk.cursor.another(b']')?;
        if more == (number + 1 < items.len()) {
            Ok(value)
        } else {
            Err(Unfit(()))
        }
    }

    /// Reads the entries of a map.
    pub(crate) fn entries<K: MapKey + From<String>, V: Decode>(
        &mut self,
        node: Node<'_>,
        mut insert: impl FnMut(K, V) -> Option<V>,
    ) -> Result<(), Unfit> {
        self.open(node, |reader, node| {
            let Kind::Map(values) = node.schema.kind else {
                return Err(Unfit(()));
            };
            if reader.walk.cursor.peek() != b'{' {
                return Err(Unfit(()));
            }
            let node_of_value = Node::new(values, node.scope);
            reader.walk.cursor.open()?;
            let mut count = 0;
            let mut more = reader.walk.cursor.space() != b'}';
            while more {
                let key = reader.key()?;
                let value = V::decode(reader, node_of_value).inspect_err(|_| {
                    reader.passed(|| Step::Key(key.clone().into_owned()));
                })?;
                if insert(key.into_owned().into(), value).is_some() {
                    return Err(Unfit(()));
                }
                count += 1;
                more = reader.walk.cursor.another(b'}')?;
            }
            reader.walk.cursor.close();
            let fits = node.bounds.is_none_or(|bounds| {
                bounds.min_items.is_none_or(|min| count >= min)
                    && bounds.max_items.is_none_or(|max| count <= max)
            });
            if fits { Ok(()) } else { Err(Unfit(())) }
        })
    }
}

impl<T: Decode> Decode for Vec<T> {
    const ASKS: bool = T::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        let mut list = Self::new();
        reader.items(node, |item| list.push(item))?;
        Ok(list)
    }
}

macro_rules! lists {
    ($($type:ident($push:ident): $($bound:ident),*;)+) => {$(
        impl<T: Decode $(+ $bound)*> Decode for $type<T> {
            const ASKS: bool = T::ASKS;

            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                let mut list = Self::new();
                reader.items(node, |item| {
                    list.$push(item);
                })?;
                Ok(list)
            }
        }
    )+};
}

lists! {
    VecDeque(push_back): ;
    LinkedList(push_back): ;
    BinaryHeap(push): Ord;
    BTreeSet(insert): Ord;
}

impl<T: Decode + Eq + Hash, S: BuildHasher + Default> Decode for HashSet<T, S> {
    const ASKS: bool = T::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        let mut set = Self::default();
        reader.items(node, |item| {
            set.insert(item);
        })?;
        Ok(set)
    }
}

impl<T: Decode, const N: usize> Decode for [T; N] {
    const ASKS: bool = T::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        Vec::decode(reader, node)?.try_into().map_err(|_| Unfit(()))
    }
}

impl<K: MapKey + From<String> + Ord, V: Decode> Decode for BTreeMap<K, V> {
    const ASKS: bool = V::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        let mut map = Self::new();
        reader.entries(node, |key, value| map.insert(key, value))?;
        Ok(map)
    }
}

impl<K, V, S> Decode for HashMap<K, V, S>
where
    K: MapKey + From<String> + Eq + Hash,
    V: Decode,
    S: BuildHasher + Default,
{
    const ASKS: bool = V::ASKS;

    fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
        let mut map = Self::default();
        reader.entries(node, |key, value| map.insert(key, value))?;
        Ok(map)
    }
}

macro_rules! tuples {
    ($(($($item:ident $number:literal),+);)+) => {$(
        impl<$($item: Decode),+> Decode for ($($item,)+) {
            const ASKS: bool = false $(|| $item::ASKS)+;

            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                reader.tuple(node, |reader, node, items| {
                    Ok(($(reader.element::<$item>(node, items, $number)?,)+))
                })
            }
        }
    )+};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}
