//! Converts a formula in `MathML` to one line of text that keeps its structure: `1/2`, `x²+yᵢ`, `√(a+b)`.

use super::markup::{Piece, walk_markup};
use crate::feed::characters::Shift;

/// Maximum nesting depth of a formula. Deeper elements become children of the deepest allowed one.
const DEPTH_MAX: usize = 48;

/// Maximum number of fractions, roots, scripts and tables inside one another that are written as one line. For a deeper formula its
/// TeX source is easier to read, if the publisher states it.
const STRUCTURES_MAX: usize = 3;

/// A formula whose elements are being read. The first element is `math` itself.
#[derive(Debug)]
pub struct Formula {
    open: Vec<Element>,
    /// Number of open elements that are nested too deeply.
    beyond: usize,
    tex: Option<String>,
}

#[derive(Debug, Default)]
struct Element {
    name: String,
    text: String,
    children: Vec<Self>,
    /// The signs around and between the children of `mfenced`, the width of `mspace`, or the thickness of the bar of a fraction.
    option: String,
}

/// The text of an element, and how much it holds together.
#[derive(Debug, Clone, Default)]
struct Written {
    text: String,
    bond: Bond,
}

/// How much a text holds together. A text needs brackets where a stronger bond is required.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    /// A sum, an equation or another sequence with operators.
    #[default]
    Loose,
    Fraction,
    /// Factors side by side.
    Product,
    /// A base with an index or an exponent, or a root.
    Script,
    /// The name of a function, or a sum sign with its limits: separated from the letter after it.
    Word,
    Operator,
    /// A number, a letter, or anything in brackets.
    Whole,
}

/// Returns the text of a formula that is given as markup.
pub(in crate::feed) fn formula_text(markup: &str) -> String {
    let mut formula: Option<Formula> = None;
    walk_markup(markup, |piece| match (piece, &mut formula) {
        (Piece::Open(tag), None) => {
            formula = Some(Formula::new(tag.attribute("alttext")));
        }
        (Piece::Open(tag), Some(formula)) => {
            formula.open(tag.name(), tag.is_self_closing(), |name| tag.attribute(name));
        }
        (Piece::Close(name), Some(formula)) => drop(formula.close(name)),
        (Piece::Text(text), Some(formula)) => formula.text(text),
        (Piece::Close(_) | Piece::Text(_), None) => {}
    });
    formula.map(Formula::into_text).unwrap_or_default()
}

/// Checks whether an element is a formula in `MathML`. XML documents write it with a prefix.
pub fn is_formula(name: &str) -> bool {
    local(name).eq_ignore_ascii_case("math")
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

impl Formula {
    /// Starts a formula. `alternative` is the attribute `alttext`, which usually contains TeX.
    pub fn new(alternative: Option<&str>) -> Self {
        let tex = alternative.map(str::to_owned);
        Self { open: vec![Element::default()], beyond: 0, tex }
    }

    /// Handles a start tag inside the formula.
    pub fn open<'a>(
        &mut self,
        name: &str,
        is_empty: bool,
        attribute: impl Fn(&str) -> Option<&'a str>,
    ) {
        if self.open.len() >= DEPTH_MAX || self.open.last().is_some_and(Element::is_token) {
            self.beyond += usize::from(!is_empty);
            return;
        }
        let stated = |name: &str| attribute(name).unwrap_or_default();
        let mut element = Element { name: local(name).to_owned(), ..Element::default() };
        match element.name.as_str() {
            "mfenced" => {
                let sign = |name: &str, usual: &str| attribute(name).unwrap_or(usual).to_owned();
                element.option =
                    [sign("open", "("), sign("separators", ","), sign("close", ")")].join("\n");
            }
            "mspace" => stated("width").clone_into(&mut element.option),
            "mfrac" => stated("linethickness").clone_into(&mut element.option),
            "menclose" if stated("notation").contains("radical") => {
                "msqrt".clone_into(&mut element.name);
            }
            "annotation" if stated("encoding").contains("tex") => {
                "tex".clone_into(&mut element.name);
            }
            _ => {}
        }
        self.open.push(element);
        if is_empty {
            self.pop();
        }
    }

    /// Handles an end tag. Returns `true` if it ends the formula.
    pub fn close(&mut self, name: &str) -> bool {
        let name = local(name);
        if name == "math" {
            return true;
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return false;
        }
        let is_it = |element: &Element| match element.name.as_str() {
            "tex" => name == "annotation",
            own => own == name || (own == "msqrt" && name == "menclose"),
        };
        if let Some(at) = self.open.iter().skip(1).rposition(is_it) {
            while self.open.len() > at + 1 {
                self.pop();
            }
        }
        false
    }

    /// Adds text of the innermost element.
    pub fn text(&mut self, text: &str) {
        let Some(element) = self.open.last_mut() else { return };
        if element.is_token() || matches!(element.name.as_str(), "tex" | "annotation") {
            element.text.push_str(text);
        } else if !text.trim().is_empty() {
            let (name, text) = ("mtext".to_owned(), text.to_owned());
            element.children.push(Element { name, text, ..Element::default() });
        }
    }

    fn pop(&mut self) {
        let Some(element) = self.open.pop() else { return };
        if element.name == "tex" {
            self.tex = Some(element.text);
        } else if let Some(parent) = self.open.last_mut() {
            parent.children.push(element);
        }
    }

    /// Ends the formula and returns its text.
    pub fn into_text(mut self) -> String {
        while self.open.len() > 1 {
            self.pop();
        }
        let tex = self.tex.as_deref().map(|tex| {
            let tex = tex.trim();
            let inner = tex.strip_prefix("{\\displaystyle").and_then(|tex| tex.strip_suffix('}'));
            inner.unwrap_or(tex).split_whitespace().collect::<Vec<_>>().join(" ")
        });
        let tex = tex.filter(|tex| !tex.is_empty());
        let Some(root) = self.open.pop() else { return tex.unwrap_or_default() };
        if let Some(tex) = &tex
            && root.structures() > STRUCTURES_MAX
        {
            return tex.clone();
        }
        let text = root.row().text;
        if text.trim().is_empty() { tex.unwrap_or_default() } else { text }
    }
}

impl Element {
    /// Returns the number of fractions, roots, scripts and tables that contain one another, at the deepest place.
    fn structures(&self) -> usize {
        const STRUCTURES: &str =
            "mfrac msqrt mroot msup msub msubsup munder mover munderover mmultiscripts mtable";
        let inside = self.children.iter().map(Self::structures).max().unwrap_or_default();
        inside + usize::from(STRUCTURES.split(' ').any(|name| name == self.name))
    }

    /// Checks whether the element contains only text. Other markup in it is read as its text.
    fn is_token(&self) -> bool {
        matches!(self.name.as_str(), "mi" | "mn" | "mo" | "mtext" | "ms")
    }

    fn write(&self) -> Written {
        let part = |place: usize| self.children.get(place).map(Self::write).unwrap_or_default();
        let inner = |place: usize| {
            self.children.get(place).map(|child| child.name.as_str()).unwrap_or_default()
        };
        match self.name.as_str() {
            _ if self.is_token() => self.token(),
            "mfrac" => self.fraction(&part(0), &part(1)),
            "msqrt" => root("√", &self.row()),
            "mroot" => match part(1).text.as_str() {
                "3" => root("∛", &part(0)),
                "4" => root("∜", &part(0)),
                index => root(&format!("{}√", raised(index, "^")), &part(0)),
            },
            "msup" => scripted(&part(0), "", &part(1).text),
            "msub" => scripted(&part(0), &part(1).text, ""),
            "msubsup" => scripted(&part(0), &part(1).text, &part(2).text),
            "munder" if "⏟︸_¯".contains(&part(1).text) => part(0),
            "munder" => limits(&part(0), inner(0), &part(1).text, ""),
            "mover" => over(part(0), inner(0), &part(1).text),
            "munderover" => limits(&part(0), inner(0), &part(1).text, &part(2).text),
            "mmultiscripts" => self.multiscripts(),
            "mfenced" => self.fenced(),
            "mtable" => sequence(&self.children, "; "),
            "mtr" | "mlabeledtr" => sequence(&self.children, ", "),
            "mspace" => {
                let is_wide = self.option.trim_end_matches("em").parse::<f32>();
                let text = if is_wide.is_ok_and(|width| width >= 0.25) { " " } else { "" };
                Written { text: text.to_owned(), bond: Bond::Operator }
            }
            "semantics" | "maction" => part(0),
            "mphantom" | "annotation" | "annotation-xml" => Written::default(),
            _ => self.row(),
        }
    }

    fn token(&self) -> Written {
        let words: Vec<&str> =
            self.text.split(|c: char| c.is_whitespace() && c != '\u{a0}').collect();
        let text =
            words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ");
        let is_word = text.chars().nth(1).is_some() && text.chars().all(char::is_alphabetic);
        match self.name.as_str() {
            "mo" => Written { text, bond: Bond::Operator },
            "mi" if is_word => Written { text, bond: Bond::Word },
            "mtext" => {
                let edge = |word: Option<&&str>| if word == Some(&"") { " " } else { "" };
                let text = format!("{}{text}{}", edge(words.first()), edge(words.last()));
                Written { text: text.replace('\u{a0}', " "), bond: Bond::Operator }
            }
            _ => Written { text, bond: Bond::Whole },
        }
    }

    /// Writes the children one after another. Factors are separated where they would otherwise form another number or word.
    fn row(&self) -> Written {
        let parts: Vec<Written> = self.children.iter().map(Self::write).collect();
        let parts: Vec<Written> = parts.into_iter().filter(|part| !part.text.is_empty()).collect();
        if let [part] = parts.as_slice() {
            return part.clone();
        }
        let mut row = Written { text: String::new(), bond: Bond::Product };
        for (place, part) in parts.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|place| parts.get(place));
            let next = parts.get(place + 1).and_then(|next| next.text.chars().next());
            let last = row.text.chars().next_back();
            let invisible = invisible_operator(&part.text, last, next);
            if part.bond == Bond::Operator && invisible.is_none() && !is_bracket(&part.text) {
                row.bond = Bond::Loose;
            }
            let text = invisible.map_or_else(|| beside(part, last, next), str::to_owned);
            let first = text.chars().next();
            let is_name = |part: &Written| part.bond == Bond::Word;
            let joins = last.is_some_and(char::is_alphanumeric)
                && first.is_some_and(char::is_alphanumeric)
                && (is_name(part) || before.is_some_and(is_name))
                || (is_digit(last) && is_digit(first) && part.bond == Bond::Fraction)
                || (before.is_some_and(is_name)
                    && first.is_some_and(|c| is_operand(c) && c != '('));
            if joins && !row.text.ends_with(' ') {
                row.text.push(' ');
            }
            row.text.push_str(&text);
        }
        if is_enclosed(&row.text) {
            row.bond = Bond::Whole;
        }
        row
    }

    fn fraction(&self, above: &Written, below: &Written) -> Written {
        let thickness = self.option.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        if thickness.parse::<f32>().is_ok_and(|thickness| thickness <= 0.0) {
            let text = format!(
                "{} choose {}",
                above.at_least(Bond::Product),
                below.at_least(Bond::Product)
            );
            return Written { text, bond: Bond::Loose };
        }
        let text = format!("{}/{}", above.at_least(Bond::Product), below.at_least(Bond::Script));
        Written { text, bond: Bond::Fraction }
    }

    fn fenced(&self) -> Written {
        let mut signs = self.option.split('\n');
        let mut sign = || signs.next().unwrap_or_default();
        let (open, between, close) = (sign(), sign(), sign());
        let separators: Vec<char> = between.chars().filter(|c| !c.is_whitespace()).collect();
        let mut text = open.to_owned();
        for (place, child) in self.children.iter().enumerate() {
            if let Some(before) = place.checked_sub(1) {
                text.extend(separators.get(before).or(separators.last()));
            }
            text.push_str(&child.write().text);
        }
        text.push_str(close);
        Written { text, bond: Bond::Whole }
    }

    /// Writes a base with scripts on both sides, as in the name of an isotope.
    fn multiscripts(&self) -> Written {
        let Some((base, scripts)) = self.children.split_first() else { return Written::default() };
        let mut written = base.write();
        let mut sides = scripts.split(|child| child.name == "mprescripts");
        for pair in sides.next().unwrap_or_default().chunks(2) {
            written = scripted(&written, &text_at(pair, 0), &text_at(pair, 1));
        }
        for pair in sides.next().unwrap_or_default().chunks(2) {
            let (below, above) = (lowered(&text_at(pair, 0), "_"), raised(&text_at(pair, 1), "^"));
            written.text = format!("{below}{above}{}", written.text);
        }
        written
    }
}

impl Written {
    /// Returns the text, in brackets if it holds together less than required.
    fn at_least(&self, bond: Bond) -> String {
        if self.bond >= bond { self.text.clone() } else { format!("({})", self.text) }
    }
}

fn text_at(elements: &[Element], place: usize) -> String {
    elements.get(place).map(|element| element.write().text).unwrap_or_default()
}

/// Returns the text of a factor between two characters. A fraction beside another factor is put in brackets; after a number it is
/// the fraction of a mixed number.
fn beside(part: &Written, last: Option<char>, next: Option<char>) -> String {
    let is_factor = |c: Option<char>| c.is_some_and(is_operand);
    let before = is_factor(last) && !is_digit(last) || last == Some(')');
    let is_mixed = |next: char| is_operand(next) && next != ')';
    if part.bond == Bond::Fraction && (before || next.is_some_and(is_mixed)) {
        return format!("({})", part.text);
    }
    part.text.clone()
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}

fn is_operand(c: char) -> bool {
    c.is_alphanumeric() || "([√∛∜".contains(c)
}

fn is_bracket(text: &str) -> bool {
    ["(", ")", "[", "]", "{", "}", "⟨", "⟩", "|"].contains(&text)
}

/// Checks whether the first bracket of a text is closed by its last character.
fn is_enclosed(text: &str) -> bool {
    let mut depth = 0_usize;
    let length = text.chars().count();
    for (place, c) in text.chars().enumerate() {
        depth += usize::from("([{⟨".contains(c));
        depth = depth.saturating_sub(usize::from(")]}⟩".contains(c)));
        if depth == 0 {
            return place > 0 && place + 1 == length;
        }
    }
    false
}

/// Returns the text for an operator that is not visible, or `None` if the text is not such an operator.
fn invisible_operator(text: &str, last: Option<char>, next: Option<char>) -> Option<&'static str> {
    let between_digits = is_digit(last) && is_digit(next);
    match text {
        // Function application.
        "\u{2061}" => Some(if next.is_some_and(char::is_alphanumeric) { " " } else { "" }),
        "\u{2062}" => Some(if between_digits { "·" } else { "" }),
        "\u{2063}" => Some(if between_digits { "," } else { "" }),
        // Invisible plus, in a mixed number.
        "\u{2064}" => Some(" "),
        _ => None,
    }
}

fn root(sign: &str, inside: &Written) -> Written {
    Written { text: format!("{sign}{}", inside.at_least(Bond::Whole)), bond: Bond::Script }
}

fn raised(text: &str, sign: &str) -> String {
    const MARKS: &str = "′″‴*†‡∘°";
    if !text.is_empty() && text.chars().all(|c| MARKS.contains(c)) {
        return text.replace('∘', "°");
    }
    script(Shift::Up, text, sign)
}

fn lowered(text: &str, sign: &str) -> String {
    script(Shift::Down, text, sign)
}

fn script(shift: Shift, text: &str, sign: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    match text {
        "" => String::new(),
        _ if letters <= 2
            && let Some(shifted) = shift.of_formula(text) =>
        {
            shifted
        }
        _ if text.chars().nth(1).is_none() || is_enclosed(text) => format!("{sign}{text}"),
        _ => format!("{sign}({text})"),
    }
}

/// Writes a base with an index and an exponent.
fn scripted(base: &Written, below: &str, above: &str) -> Written {
    let base_text = match base.bond {
        Bond::Operator | Bond::Word | Bond::Whole => base.text.clone(),
        // An index is not taken for a part of an exponent.
        Bond::Script if base.text.ends_with(|c: char| c.is_alphabetic()) => base.text.clone(),
        Bond::Loose | Bond::Fraction | Bond::Product | Bond::Script => format!("({})", base.text),
    };
    let (below, above) = (lowered(below, "_"), raised(above, "^"));
    // A script without brackets would swallow the next factor.
    let is_open =
        [&below, &above].iter().any(|text| text.starts_with(['^', '_']) && !text.ends_with(')'));
    let bond = if base.bond == Bond::Word || is_open { Bond::Word } else { Bond::Script };
    let bond = if is_bracket(&base.text) { Bond::Operator } else { bond };
    Written { text: base_text + &below + &above, bond }
}

/// Writes a sign with its limits, such as a sum or `lim`.
fn limits(base: &Written, name: &str, below: &str, above: &str) -> Written {
    // A brace below its text only groups it, and the limit explains the group.
    let mut written = scripted(base, below, above);
    if name == "mo" || base.bond == Bond::Word {
        written.bond = Bond::Word;
    }
    written
}

/// Writes a base with a mark above it. Known marks become combining characters.
fn over(base: Written, name: &str, mark: &str) -> Written {
    let combining = match mark {
        "¯" | "‾" | "―" | "―\u{338}" | "_" | "\u{304}" | "\u{305}" => '\u{305}',
        "^" | "ˆ" | "\u{302}" => '\u{302}',
        "~" | "˜" | "∼" | "\u{303}" => '\u{303}',
        "→" | "⃗" | "⟶" => '\u{20d7}',
        "˙" | "." | "\u{307}" => '\u{307}',
        "¨" | "\u{308}" => '\u{308}',
        "ˇ" | "\u{30c}" => '\u{30c}',
        "⏞" | "︷" | "" => return base,
        _ => return limits(&base, name, "", mark),
    };
    if base.bond == Bond::Operator {
        return limits(&base, name, "", mark);
    }
    let mut text = String::new();
    for c in base.text.chars() {
        text.push(c);
        if c.is_alphanumeric() {
            text.push(combining);
        }
    }
    Written { text, bond: base.bond }
}

/// Writes the rows of a table or the cells of a row. A cell that goes on with an operator, as in aligned equations, follows
/// without a separator.
fn sequence(elements: &[Element], separator: &str) -> Written {
    let mut text = String::new();
    for cell in elements.iter().map(Element::write) {
        let goes_on =
            separator == ", " && cell.text.starts_with(|c: char| "=<>≤≥≈≡∼⇒⇔→".contains(c));
        if !(text.is_empty() || cell.text.is_empty() || goes_on) {
            text.push_str(separator);
        }
        text.push_str(&cell.text);
    }
    Written { text, bond: Bond::Loose }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inside: &str, expected: &str) {
        let markup = format!("<math>{inside}</math>");
        assert_eq!(formula_text(&markup), expected, "{inside}");
        if !inside.contains("<b>") {
            let prefixed = markup.replace("</", "</mml:").replace("<m", "<mml:m");
            let prefixed = prefixed.replace("<none", "<mml:none");
            assert_eq!(formula_text(&prefixed), expected, "{prefixed}");
        }
    }

    #[test]
    fn structure_of_formulas_is_kept_in_one_line() {
        for (inside, expected) in [
            ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
            ("<mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "3 1/2"),
            ("<mn>3</mn><mo>&#x2064;</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>", "3 1/2"),
            ("<mfrac><mn>1</mn><mn>2</mn></mfrac><mi>x</mi>", "(1/2)x"),
            ("<mn>2</mn><mo>&#x2062;</mo><mn>3</mn>", "2·3"),
            ("<mn>2</mn><mo>&#x2062;</mo><mi>x</mi>", "2x"),
            (
                "<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><msub><mi>y</mi><mi>i</mi></msub>",
                "x²+yᵢ",
            ),
            ("<msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup>", "10⁻³"),
            ("<msup><mi>x</mi><mfrac><mn>1</mn><mn>2</mn></mfrac></msup>", "x^(1/2)"),
            ("<msup><mi>e</mi><mi>π</mi></msup><mi>k</mi>", "e^π k"),
            ("<msup><msup><mi>x</mi><mn>2</mn></msup><mn>3</mn></msup>", "(x²)³"),
            ("<msup><mfrac><mn>1</mn><mn>2</mn></mfrac><mn>3</mn></msup>", "(1/2)³"),
            (
                "<msup><mrow><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>",
                "(a+b)²",
            ),
            ("<msub><mi>v</mi><mtext>max</mtext></msub>", "v_(max)"),
            ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "xᵢ²"),
            ("<msqrt><mn>2</mn></msqrt>", "√2"),
            ("<msqrt><mn>2</mn><mi>x</mi></msqrt><mi>y</mi>", "√(2x)y"),
            ("<msqrt><msup><mi>x</mi><mn>2</mn></msup></msqrt>", "√(x²)"),
            ("<menclose notation='radical'><mn>2</mn></menclose>", "√2"),
        ] {
            check(inside, expected);
        }
    }

    #[test]
    fn roots_limits_and_tables_are_kept_in_one_line() {
        for (inside, expected) in [
            ("<mroot><mi>x</mi><mn>3</mn></mroot>", "∛x"),
            ("<mroot><mi>x</mi><mi>n</mi></mroot>", "ⁿ√x"),
            ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
            ("<mfrac><mi>a</mi><mrow><mn>2</mn><mi>b</mi></mrow></mfrac>", "a/(2b)"),
            ("<mfrac><mfrac><mi>a</mi><mi>b</mi></mfrac><mi>c</mi></mfrac>", "(a/b)/c"),
            (
                "<mo>(</mo><mfrac linethickness='0px'><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>",
                "(n choose k)",
            ),
            (
                "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msup><mi>i</mi><mn>2</mn></msup>",
                "∑ᵢ₌₁ⁿ i²",
            ),
            (
                "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder><mi>f</mi>",
                "lim_(x→0) f",
            ),
            ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", "sin x"),
            ("<mi>a</mi><mi>sin</mi><mi>x</mi>", "a sin x"),
            ("<mn>0.</mn><mover><mn>3</mn><mo>¯</mo></mover>", "0.3\u{305}"),
            ("<mover><mi>v</mi><mo>→</mo></mover>", "v\u{20d7}"),
            ("<mmultiscripts><mi>C</mi><mprescripts/><none/><mn>14</mn></mmultiscripts>", "¹⁴C"),
            ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)"),
            (
                "<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo>",
                "(1, 2; 3, 4)",
            ),
            ("<mi>x</mi><mtext> if </mtext><mi>y</mi>", "x if y"),
            ("<mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo>", "f(x)"),
            ("<msup><mi>f</mi><mo>′</mo></msup>", "f′"),
            ("<mrow>a <mi>b</mi> c</mrow>", "a b c"),
            ("<mtext>a <b>b</b></mtext><mn>3</mn>", "a b3"),
            ("<mrow><mi>x</mi><mo>&lt;</mo><mn>3</mn></mrow>", "x<3"),
        ] {
            check(inside, expected);
        }
    }

    #[test]
    fn source_replaces_what_is_too_deep_or_empty() {
        let deep = (0..5).fold("<mi>x</mi>".to_owned(), |inside, _| {
            format!("<mfrac><mn>1</mn><mrow><mn>1</mn><mo>+</mo>{inside}</mrow></mfrac>")
        });
        let markup = format!(
            "<math><semantics>{deep}<annotation encoding='application/x-tex'> \\cfrac x </annotation></semantics></math>"
        );
        assert_eq!(formula_text(&markup), "\\cfrac x");
        assert_eq!(formula_text("<math alttext='{\\displaystyle E}'></math>"), "E");
        assert_eq!(
            formula_text(&format!("<math>{deep}</math>")),
            "1/(1+1/(1+1/(1+1/(1+1/(1+x)))))"
        );
        let nested = "<mrow>".repeat(10_000) + "x";
        assert_eq!(formula_text(&format!("<math>{nested}</math>")), "x");
    }
}
