//! `Decode` for types of the standard library.

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
use super::reader::{Slot, Step, Target};
use super::{Decode, Node, Reader, Unfit, Via};
use crate::schema::{Kind, MapKey};

/// Implements [`Decode`] for types that are created from a string.
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
        reader.boolean_of(node)
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

/// Implements [`Decode`] for wrapper types, which are read like the value inside.
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
        // The fast path for almost every optional value: the optional node has neither a name nor bounds.
        if let Kind::Optional(inner) = node.schema.kind
            && node.schema.name.is_empty()
        {
            if reader.walk.cursor.peek() == b'n' {
                return reader.null().map(|()| None);
            }
            let inner = Node {
                schema: inner,
                ..node
            };
            return T::decode(reader, inner).map(Some);
        }
        let mut value = None;
        reader.optional(node, &mut Slot::<Via<0, T>>(&mut value))?;
        Ok(value)
    }
}

/// Passes the items of a list to a callback.
struct Items<T, P>(P, PhantomData<fn(T)>);

impl<T: Decode, P: FnMut(T)> Target for Items<T, P> {
    fn read(&mut self, reader: &mut Reader<'_>, node: Node<'_>) -> Result<(), Unfit> {
        self.0(T::decode(reader, node)?);
        Ok(())
    }
}

impl Reader<'_> {
    fn boolean_of(&mut self, node: Node<'_>) -> Result<bool, Unfit> {
        let mut value = false;
        self.open(node, &mut |reader, node| match node.schema.kind {
            Kind::Boolean => {
                value = reader.boolean()?;
                Ok(())
            }
            _ => Err(Unfit(())),
        })?;
        Ok(value)
    }

    /// Reads a nullable value into `target`, unless it is null.
    #[cold]
    fn optional(&mut self, node: Node<'_>, target: &mut dyn Target) -> Result<(), Unfit> {
        self.open(node, &mut |reader, node| {
            let Kind::Optional(inner) = node.schema.kind else {
                return Err(Unfit(()));
            };
            if reader.walk.cursor.peek() == b'n' {
                return reader.null();
            }
            let inner = Node {
                schema: inner,
                ..node
            };
            target.read(reader, inner)
        })
    }

    /// Reads the items of a list.
    #[inline]
    pub(crate) fn items<T: Decode>(
        &mut self,
        node: Node<'_>,
        push: impl FnMut(T),
    ) -> Result<(), Unfit> {
        self.list(node, &mut Items(push, PhantomData))
    }

    fn list(&mut self, node: Node<'_>, target: &mut dyn Target) -> Result<(), Unfit> {
        self.open(node, &mut |reader, node| {
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
                let read = target.read(reader, item);
                read.inspect_err(|_| reader.passed(|| Step::Item(count)))?;
                count += 1;
                more = reader.walk.cursor.another(b']')?;
            }
            reader.walk.cursor.close();
            let expected = Expected { unique, exactly };
            Ok(reader.walk.counted(node.place(), expected, start, count)?)
        })
    }

    /// Reads the items of a tuple, in order.
    fn tuple(&mut self, node: Node<'_>, targets: &mut [&mut dyn Target]) -> Result<(), Unfit> {
        self.open(node, &mut |reader, node| {
            let Kind::Tuple(items) = node.schema.kind else {
                return Err(Unfit(()));
            };
            if reader.walk.cursor.peek() != b'[' || items.len() != targets.len() {
                return Err(Unfit(()));
            }
            reader.walk.cursor.open()?;
            for (number, (schema, target)) in items.iter().zip(&mut *targets).enumerate() {
                reader.walk.cursor.space();
                let read = target.read(reader, Node::new(schema, node.scope));
                read.inspect_err(|_| reader.passed(|| Step::Item(number)))?;
                if reader.walk.cursor.another(b']')? != (number + 1 < items.len()) {
                    return Err(Unfit(()));
                }
            }
            reader.walk.cursor.close();
            Ok(())
        })
    }

    /// Reads the entries of a map.
    pub(crate) fn entries<K: MapKey + From<String>, V: Decode>(
        &mut self,
        node: Node<'_>,
        mut insert: impl FnMut(K, V) -> Option<V>,
    ) -> Result<(), Unfit> {
        self.map(node, &mut |reader, node, key| {
            let value = V::decode(reader, node)?;
            Ok(insert(key.to_owned().into(), value).is_none())
        })
    }

    /// Reads the entries of a map. `read` returns whether the key is new.
    fn map(
        &mut self,
        node: Node<'_>,
        read: &mut dyn FnMut(&mut Reader<'_>, Node<'_>, &str) -> Result<bool, Unfit>,
    ) -> Result<(), Unfit> {
        self.open(node, &mut |reader, node| {
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
                let is_new = read(reader, node_of_value, &key).inspect_err(|_| {
                    reader.passed(|| Step::Key(key.clone().into_owned()));
                })?;
                if !is_new {
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
    ($(($($item:ident $slot:ident),+);)+) => {$(
        impl<$($item: Decode),+> Decode for ($($item,)+) {
            const ASKS: bool = false $(|| $item::ASKS)+;

            fn decode(reader: &mut Reader<'_>, node: Node<'_>) -> Result<Self, Unfit> {
                $(let mut $slot = None;)+
                reader.tuple(node, &mut [$(&mut Slot::<Via<0, $item>>(&mut $slot)),+])?;
                Ok(($($slot.ok_or(Unfit(()))?,)+))
            }
        }
    )+};
}

tuples! {
    (A a);
    (A a, B b);
    (A a, B b, C c);
    (A a, B b, C c, D d);
    (A a, B b, C c, D d, E e);
    (A a, B b, C c, D d, E e, F f);
}
