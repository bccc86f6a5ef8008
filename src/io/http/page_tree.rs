//! Builds the tree of a web page, as a browser does, and stops where that would take too long.
//!
//! What is open is asked of the tree builder itself: end tags that close nothing, start tags that look closed, and
//! elements that a browser opens again make a page deeper than its tags say.

use std::cell::Cell;

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, ParseError, StartTag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer,
    TokenizerOpts,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts, TreeSink};

/// Most elements that are open at once, those counted twice that are to be opened again.
const OPEN_MAX: usize = 300;
/// Most start tags in a page.
pub(super) const ELEMENTS_MAX: usize = 50_000;
/// Most nodes of a tree: elements, those that are opened again too, texts and comments.
const NODES_MAX: usize = 4 * ELEMENTS_MAX;
/// Most blanks, quotes and slashes in one tag: the tokenizer compares each attribute with all before it.
const SEPARATORS_MAX: usize = 8_000;
/// Bytes between two looks at the tree.
const CHUNK_BYTES: usize = 256;

/// Builds the tree of a page; `None`: it is too deep or too large. `nodes` counts those of a tree.
pub(super) fn build_tree<S: TreeSink>(
    html: &str,
    tree: S,
    nodes: impl Fn(&S) -> usize,
) -> Option<S::Output> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let watched = Watched {
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
        // It stops early at scripts, which are not run, and where an encoding is named, which is known by now.
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

/// A tree builder, and what has reached it.
struct Watched<S: TreeSink> {
    builder: TreeBuilder<S::Handle, S>,
    elements: Cell<usize>,
    /// Something was reported since this was last cleared.
    reported: Cell<bool>,
}

impl<S: TreeSink> Watched<S> {
    /// Counts the elements that are open, and those that will be opened again.
    fn count_open(&self) -> usize {
        let counter = Counter { count: Cell::new(0), of: std::marker::PhantomData };
        self.builder.trace_handles(&counter);
        counter.count.get()
    }
}

impl<S: TreeSink> TokenSink for Watched<S> {
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
