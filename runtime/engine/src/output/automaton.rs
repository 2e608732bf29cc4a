//! The Aho–Corasick automaton of the redactor.
//!
//! An automaton of our own, because redaction needs four things that the `aho-corasick` crate does
//! not offer together: the memory that holds the secrets is overwritten when it is dropped; the
//! state survives between chunks while *overlapping* matches are reported; the depth of a state
//! (how much of a secret has begun) is known, which bounds what has to be held back and what may be
//! cut at the end of a truncated capture; and only the longest match at each position is looked at,
//! so that many nested secrets cannot make the search quadratic. The tests compare it with the
//! crate's overlapping search.

use zeroize::Zeroize;

/// A state: the longest suffix of the input that begins some pattern.
pub(crate) type State = u32;

/// The state before any input.
pub(crate) const ROOT: State = 0;

/// Marks "no child" and "no sibling". Node 0 is the root, which is nobody's child.
const NONE: u32 = 0;

/// Trie with failure links. Children are linked lists, except at the root.
pub(crate) struct Automaton {
    root: Vec<u32>,
    byte: Vec<u8>,
    first_child: Vec<u32>,
    sibling: Vec<u32>,
    fail: Vec<u32>,
    depth: Vec<u32>,
    /// Length of the longest pattern that ends in this state, 0 for none.
    longest: Vec<u32>,
    max_len: usize,
}

impl Drop for Automaton {
    fn drop(&mut self) {
        self.byte.zeroize();
        self.root.zeroize();
    }
}

impl Automaton {
    /// Builds the automaton; empty patterns are ignored. `total` must be at least the sum of the
    /// pattern lengths: the vector of bytes then never moves, so no copy of a secret is left behind.
    pub(crate) fn build<'a>(patterns: impl IntoIterator<Item = &'a [u8]>, total: usize) -> Self {
        let mut automaton = Self {
            root: vec![NONE; 256],
            byte: Vec::with_capacity(total + 1),
            first_child: Vec::new(),
            sibling: Vec::new(),
            fail: Vec::new(),
            depth: Vec::new(),
            longest: Vec::new(),
            max_len: 0,
        };
        automaton.add_node(0, 0, NONE);
        for pattern in patterns {
            automaton.insert(pattern);
        }
        automaton.link();
        automaton
    }

    fn add_node(&mut self, byte: u8, depth: u32, sibling: u32) -> u32 {
        let node = self.byte.len() as u32;
        self.byte.push(byte);
        self.first_child.push(NONE);
        self.sibling.push(sibling);
        self.fail.push(ROOT);
        self.depth.push(depth);
        self.longest.push(0);
        node
    }

    fn insert(&mut self, pattern: &[u8]) {
        let mut node = ROOT;
        for (index, &byte) in pattern.iter().enumerate() {
            node = match self.child(node, byte) {
                NONE => self.add_child(node, byte, index as u32 + 1),
                child => child,
            };
        }
        if node != ROOT {
            self.longest[node as usize] = pattern.len() as u32;
            self.max_len = self.max_len.max(pattern.len());
        }
    }

    fn add_child(&mut self, parent: u32, byte: u8, depth: u32) -> u32 {
        let child = self.add_node(byte, depth, self.first_child[parent as usize]);
        self.first_child[parent as usize] = child;
        if parent == ROOT {
            self.root[usize::from(byte)] = child;
        }
        child
    }

    fn child(&self, node: u32, byte: u8) -> u32 {
        if node == ROOT {
            return self.root[usize::from(byte)];
        }
        let mut child = self.first_child[node as usize];
        while child != NONE && self.byte[child as usize] != byte {
            child = self.sibling[child as usize];
        }
        child
    }

    /// Sets failure links breadth first and passes match lengths along them.
    fn link(&mut self) {
        let mut queue: Vec<u32> = Vec::with_capacity(self.byte.len());
        self.each_child(ROOT, &mut queue);
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            let from = queue.len();
            self.each_child(node, &mut queue);
            for &child in &queue[from..] {
                let target = self.step(self.fail[node as usize], self.byte[child as usize]);
                self.fail[child as usize] = target;
                let slot = child as usize;
                self.longest[slot] = self.longest[slot].max(self.longest[target as usize]);
            }
        }
    }

    fn each_child(&self, node: u32, into: &mut Vec<u32>) {
        let mut child = self.first_child[node as usize];
        while child != NONE {
            into.push(child);
            child = self.sibling[child as usize];
        }
    }

    /// The state after one more byte; amortised constant time.
    pub(crate) fn step(&self, mut state: State, byte: u8) -> State {
        loop {
            let child = self.child(state, byte);
            if child != NONE || state == ROOT {
                return child;
            }
            state = self.fail[state as usize];
        }
    }

    /// How many bytes at the end of the input begin a pattern.
    pub(crate) fn depth(&self, state: State) -> usize {
        self.depth[state as usize] as usize
    }

    /// Length of the longest pattern that ends here, 0 for none.
    pub(crate) fn longest(&self, state: State) -> usize {
        self.longest[state as usize] as usize
    }

    /// Length of the longest pattern; 0 without patterns.
    pub(crate) fn max_len(&self) -> usize {
        self.max_len
    }

    /// Whether any pattern occurs in `text`.
    pub(crate) fn occurs_in(&self, text: &[u8]) -> bool {
        let mut state = ROOT;
        self.max_len > 0
            && text.iter().any(|&byte| {
                state = self.step(state, byte);
                self.longest(state) > 0
            })
    }
}

#[cfg(test)]
#[path = "automaton_tests.rs"]
mod tests;
