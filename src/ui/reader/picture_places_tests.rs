//! Tests of picture placement.

use super::*;

const COLUMNS: u16 = 40;

fn line(text: &str, role: Role, image: Option<u16>) -> StyledLine {
    vec![StyledSpan { text: text.into(), role, image, ..StyledSpan::default() }].into()
}

/// Returns a text with one line for each letter. A capital letter is the placeholder of a picture.
fn text(letters: &str) -> Rendered {
    let mut images = Vec::new();
    let lines = letters.chars().map(|letter| {
        let image = letter.is_uppercase().then(|| {
            let url = format!("https://a.example/{letter}");
            images.push(ImageTarget { url, alt: String::new(), declared: None });
            u16::try_from(images.len()).unwrap()
        });
        let role = if letter == '|' { Role::TableBorder } else { Role::Text };
        line(&letter.to_string(), role, image)
    });
    let lines = lines.collect();
    Rendered { lines, images, ..Rendered::default() }
}

/// A text with pictures, and the position to which it is scrolled.
struct Ui {
    text: Rendered,
    places: Vec<PicturePlace>,
    top: usize,
}

fn screen(letters: &str, top: usize) -> Ui {
    let text = text(letters);
    Ui { places: find_places(&text), text, top }
}

impl Ui {
    /// Returns the first character of each line, with a dot for each picture line, and the number of the line at the top.
    fn seen(&self) -> (String, usize) {
        let lines = &self.text.lines;
        let letters = lines.iter().map(|line| line.text().chars().next().unwrap_or('.'));
        (letters.collect(), self.top)
    }

    /// Sets the height of each picture, like `arrange_pictures`.
    fn size(&mut self, rows: &[u16]) {
        let sizes: Vec<(u16, u16)> = rows.iter().map(|&rows| (COLUMNS, rows)).collect();
        let held = find_held(&self.places, self.top);
        keep_lines(&mut self.text, &mut self.places, &sizes);
        self.top = line_of(&self.places, held);
    }
}

#[test]
fn picture_lines_leave_the_text_position_unchanged() {
    let mut screen = screen("abXcYZd", 4);
    screen.size(&[2, 0, 3]);
    assert_eq!(screen.seen(), ("ab..XcY...Zd".into(), 6), "Y is still the first");
    screen.size(&[1, 4, 0]);
    assert_eq!(screen.seen(), ("ab.Xc....YZd".into(), 9));
    screen.size(&[0, 0, 0]);
    assert_eq!(screen.seen(), ("abXcYZd".into(), 4));
}

#[test]
fn a_picture_at_the_top_of_the_screen_stays_there() {
    let mut screen = screen("abXcY", 0);
    screen.size(&[5, 2]);
    assert_eq!(screen.seen(), ("ab.....Xc..Y".into(), 0), "the beginning stays the beginning");
    screen.top = 4;
    screen.size(&[8, 2]);
    assert_eq!(screen.top, 4, "two of its lines are above the screen");
    screen.size(&[1, 2]);
    assert_eq!(screen.top, 3, "it is shorter: what comes behind it");
    screen.top = 2;
    assert!(matches!(find_held(&screen.places, screen.top), Held::Picture(1, 0)));
}

#[test]
fn two_pictures_on_a_line_and_one_in_a_table_have_places() {
    let mut two = text("ab");
    two.images = text("XY").images;
    let spans: Vec<StyledSpan> = text("XY").lines.into_iter().flat_map(|line| line.spans).collect();
    two.lines.push(spans.into());
    two.lines[2].spans[1].image = Some(2);
    let places: Vec<(u16, usize)> =
        find_places(&two).iter().map(|place| (place.image, place.line)).collect();
    assert_eq!(places, [(1, 2), (2, 2)]);
    let mut table = text("a||X|b");
    table.lines[3].spans.insert(0, line("|", Role::TableBorder, None).spans.remove(0));
    assert_eq!(find_places(&table)[0].line, 1, "above the table");
}

#[test]
fn number_of_picture_places_is_limited() {
    assert_eq!(find_places(&text(&"X".repeat(OF_AN_ENTRY_MAX + 5))).len(), OF_AN_ENTRY_MAX);
}

#[test]
fn picture_in_a_quotation_is_beside_its_bar() {
    let mut quoted = text("X");
    quoted.lines[0].spans.insert(0, line("│ ", Role::QuoteBar, None).spans.remove(0));
    let mut places = find_places(&quoted);
    assert_eq!(places[0].indent, 2);
    keep_lines(&mut quoted, &mut places, &[(10, 2)]);
    let lines: Vec<String> = quoted.lines.iter().map(StyledLine::text).collect();
    assert_eq!(lines, ["│ ", "│ ", "│ X"]);
}
