//! Builds the tree of a web page as a browser does, and stops if the page is so deep or large that building the tree would take
//! too long.
//!
//! The tree builder itself reports the open elements, because stray end tags, start tags that look closed, and elements that
//! a browser reopens make a page deeper than its tags suggest.

use std::cell::Cell;

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, ParseError, StartTag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer,
    TokenizerOpts,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts, TreeSink};

/// Maximum number of elements open at the same time. An element that a browser would reopen counts twice.
const OPEN_MAX: usize = 300;
/// Maximum number of start tags in a page.
pub(super) const ELEMENTS_MAX: usize = 50_000;
/// Maximum number of nodes in a tree: elements, including reopened ones, texts and comments.
const NODES_MAX: usize = 4 * ELEMENTS_MAX;
/// Maximum number of blanks, quotes and slashes in one tag, because the tokenizer compares each attribute with all earlier ones.
const SEPARATORS_MAX: usize = 8_000;
/// Number of bytes between two checks of the tree.
const CHUNK_BYTES: usize = 256;

/// Builds the tree of a page. Returns `None` if the page is too deep or too large. `nodes` is a function that counts the nodes of
/// a tree.
pub(super) fn build_tree<S: TreeSink>(
    html: &str,
    tree: S,
    nodes: impl Fn(&S) -> usize,
) -> Option<S::Output> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let watched = CountingTree {
        builder: TreeBuilder::new(tree, options),
        elements: Cell::new(0),
        reported: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(watched, TokenizerOpts::default());
    let input = BufferQueue::default();
    let (mut rest, mut separators) = (html, 0_usize);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK_BYTES));
        rest = after;
        input.push_back(StrTendril::from_slice(chunk));
        // Continue when the tokenizer pauses: it pauses at scripts, which are not run, and at declarations of the encoding, which
        // is already known.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if tokenizer.sink.reported.take() {
            separators = 0;
        }
        let more = chunk.bytes().filter(|byte| b" \t\r\n\x0C\"'/".contains(byte)).count();
        separators = separators.saturating_add(more);
        let is_too_large = separators > SEPARATORS_MAX
            || tokenizer.sink.elements.get() > ELEMENTS_MAX
            || nodes(&tokenizer.sink.builder.sink) > NODES_MAX;
        if is_too_large || tokenizer.sink.count_open() > OPEN_MAX {
            return None;
        }
    }
    tokenizer.end();
    Some(tokenizer.sink.builder.sink.finish())
}

/// A tree builder that also counts elements and tokens.
struct CountingTree<S: TreeSink> {
    builder: TreeBuilder<S::Handle, S>,
    elements: Cell<usize>,
    /// Set when the tokenizer has reported a token since the last check.
    reported: Cell<bool>,
}

impl<S: TreeSink> CountingTree<S> {
    /// Counts the open elements and the elements that will be reopened.
    fn count_open(&self) -> usize {
        let counter = Counter { count: Cell::new(0), of: std::marker::PhantomData };
        self.builder.trace_handles(&counter);
        counter.count.get()
    }
}

impl<S: TreeSink> TokenSink for CountingTree<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        if !matches!(token, ParseError(_)) {
            self.reported.set(true);
        }
        if matches!(&token, TagToken(tag) if tag.kind == StartTag) {
            self.elements.update(|elements| elements.saturating_add(1));
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

struct Counter<H> {
    count: Cell<usize>,
    of: std::marker::PhantomData<H>,
}

impl<H> Tracer for Counter<H> {
    type Handle = H;

    fn trace_handle(&self, _: &H) {
        self.count.update(|count| count.saturating_add(1));
    }
}
