//! Prefix tree of byte sequences.

/// A prefix tree of byte sequences.
pub(super) struct Tree(Vec<Node>);

#[derive(Default)]
pub(super) struct Node {
    /// Byte and node of each child, sorted by byte.
    edges: Vec<(u8, u32)>,
    /// The number of the sequence that ends at this node.
    pub(super) end: Option<u32>,
    /// Whether the node is within base64 or hex, which may continue on the next line.
    wraps: bool,
}

impl Tree {
    pub(super) fn new() -> Self {
        Self(vec![Node::default()])
    }

    pub(super) fn step(&self, node: usize, byte: u8) -> Option<usize> {
        let edges = &self.0[node].edges;
        let at = edges.binary_search_by_key(&byte, |(byte, _)| *byte).ok()?;
        Some(edges[at].1 as usize)
    }

    pub(super) fn end(&self, node: usize) -> Option<u32> {
        self.0[node].end
    }

    /// Returns whether a sequence may continue on the next line after this node.
    pub(super) fn wraps(&self, node: usize) -> bool {
        self.0[node].wraps && !self.is_leaf(node)
    }

    pub(super) fn is_leaf(&self, node: usize) -> bool {
        self.0[node].edges.is_empty()
    }

    /// Adds a sequence and returns the node of its end.
    pub(super) fn insert(&mut self, sequence: &[u8], wraps: bool) -> &mut Node {
        let mut node = 0;
        for byte in sequence {
            let next = self.0.len();
            let edges = &mut self.0[node].edges;
            node = match edges.binary_search_by_key(byte, |(byte, _)| *byte) {
                Ok(at) => edges[at].1 as usize,
                Err(at) => {
                    // More than `u32::MAX` nodes would need more than 160 GiB of memory.
                    edges.insert(at, (*byte, u32::try_from(next).unwrap_or(u32::MAX)));
                    self.0.push(Node::default());
                    next
                }
            };
            self.0[node].wraps |= wraps;
        }
        &mut self.0[node]
    }
}
