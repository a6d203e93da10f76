//! Elements of a page. The macro escapes every text.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::picture::chart::Chart;
use crate::plot::{PictureSize, picture};

/// Size of pictures on narrow screens.
const NARROW: PictureSize = PictureSize { width: 400, font: 13 };

/// A page in the making.
pub struct Page {
    title: String,
    body: String,
}

/// A cell of a table.
pub enum Cell {
    Head(String),
    Number(String),
    /// A number that is 0.
    Zero,
}

impl Page {
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), body: String::new() }
    }

    pub fn end(self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="generator" content={ "orthopt " (env!("CARGO_PKG_VERSION")) };
                    title { (self.title) }
                    style { (PreEscaped(include_str!("page.css"))) }
                }
                body { h1 { (self.title) } (PreEscaped(self.body)) }
            }
        };
        page.into_string()
    }

    fn add(&mut self, part: &Markup) {
        self.body.push_str(&part.0);
        self.body.push('\n');
    }

    /// A heading that can be linked to.
    pub fn section(&mut self, id: &str, title: &str) {
        self.add(&html! { h2 id=(id) { (title) } });
    }

    pub fn lead(&mut self, text: &str) {
        self.add(&html! { p.lead { (text) } });
    }

    pub fn small(&mut self, text: &str) {
        self.add(&html! { p.small { (text) } });
    }

    /// A question with its answers.
    pub fn question(&mut self, question: &str, answers: impl IntoIterator<Item = String>) {
        self.add(&html! { div.answer { h3 { (question) } @for answer in answers { p { (answer) "." } } } });
    }

    pub fn code(&mut self, text: &str) {
        self.add(&html! { pre { code { (text) } } });
    }

    /// A picture with a text description for screen readers, drawn once for wide screens and once for narrow ones.
    ///
    /// # Errors
    /// The drawing fails.
    pub fn figure(&mut self, chart: &Chart, what: &str) -> anyhow::Result<()> {
        let (wide, narrow) = (picture(chart, PictureSize::default())?, picture(chart, NARROW)?);
        self.add(&html! {
            figure aria-label=(what) {
                div.on-wide { (PreEscaped(wide)) }
                div.on-narrow { (PreEscaped(narrow)) }
            }
        });
        Ok(())
    }

    /// A picture that is drawn already.
    #[cfg(feature = "papers")]
    pub fn drawing(&mut self, svg: &str) {
        self.add(&html! { figure { (PreEscaped(svg)) } });
    }

    /// Names and values; those without a value are left out.
    pub fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, String)>) {
        let facts = facts.into_iter().filter(|fact| !fact.1.is_empty());
        self.add(&html! {
            table { tbody { @for (name, value) in facts { tr { th { (name) } td { (value) } } } } }
        });
    }

    /// A table; columns after the first hold numbers.
    pub fn table(&mut self, head: &[String], rows: impl IntoIterator<Item = Vec<Cell>>) {
        self.add(&html! {
            div.wide {
                table {
                    thead { tr { @for (k, name) in head.iter().enumerate() { th.n[k > 0] { (name) } } } }
                    tbody { @for row in rows { tr { @for cell in row { (cell.shown()) } } } }
                }
            }
        });
    }
}

impl Cell {
    fn shown(&self) -> Markup {
        match self {
            Self::Head(text) => html! { th { (text) } },
            Self::Number(text) => html! { td.n { (text) } },
            Self::Zero => html! { td.n.zero { "0" } },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_data_becomes_markup() {
        let mut page = Page::new("<b>&\"x\"");
        page.facts([("a<", "<script>".into()), ("empty", String::new())]);
        page.table(&["v".into()], [vec![Cell::Head("x<y".into()), Cell::Number("\"&".into()), Cell::Zero]]);
        page.question("<i>", ["</div>".to_string()]);
        page.code("</code>");
        let chart = Chart { title: "<svg".into(), subtitle: "</svg>".into(), ..blank() };
        page.figure(&chart, "\"><script>").unwrap();
        let page = page.end();
        assert!(page.contains("<title>&lt;b&gt;&amp;&quot;x&quot;</title>"), "{page}");
        assert!(page.contains("<th>a&lt;</th><td>&lt;script&gt;</td>") && !page.contains("empty"));
        assert!(page.contains("<th>x&lt;y</th><td class=\"n\">&quot;&amp;</td><td class=\"n zero\">0</td>"));
        assert!(
            page.contains("<h3>&lt;i&gt;</h3><p>&lt;/div&gt;.</p>")
                && page.contains("<code>&lt;/code&gt;</code>")
        );
        assert!(page.contains("aria-label=\"&quot;&gt;&lt;script&gt;\"") && !page.contains("<script"));
        assert_eq!((page.matches("<svg ").count(), page.matches("</svg>").count()), (2, 2));
    }

    fn blank() -> Chart {
        crate::picture::plane::Plane { points: vec![(1.0, 2.0)], components: vec![0], ..Default::default() }
            .scores()
    }
}
