//! Elements of the page; every text is escaped here.

use std::fmt::Write;

/// A page in the making.
pub struct Page(String);

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
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
        let title = escaped(title);
        let style = include_str!("page.css");
        Self(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"orthopt {}\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
            env!("CARGO_PKG_VERSION")
        ))
    }

    pub fn end(mut self) -> String {
        self.0 += "</body>\n</html>\n";
        self.0
    }

    /// A heading that can be linked to.
    pub fn section(&mut self, id: &str, title: &str) {
        let _ = writeln!(self.0, "<h2 id=\"{id}\">{}</h2>", escaped(title));
    }

    pub fn lead(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p class=\"lead\">{}</p>", escaped(text));
    }

    pub fn small(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p class=\"small\">{}</p>", escaped(text));
    }

    /// A question with its answers.
    pub fn question(&mut self, question: &str, answers: impl IntoIterator<Item = String>) {
        let _ = write!(self.0, "<div class=\"answer\"><h3>{}</h3>", escaped(question));
        for answer in answers {
            let _ = write!(self.0, "<p>{}.</p>", escaped(&answer));
        }
        self.0 += "</div>\n";
    }

    pub fn code(&mut self, text: &str) {
        let _ = writeln!(self.0, "<pre><code>{}</code></pre>", escaped(text));
    }

    /// A picture with a text description for screen readers.
    pub fn figure(&mut self, svg: &str, what: &str) {
        let svg = svg.replacen("<svg ", &format!("<svg aria-label=\"{}\" ", escaped(what)), 1);
        let _ = writeln!(self.0, "<figure>\n{svg}</figure>");
    }

    /// Names and values; those without a value are left out.
    pub fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, String)>) {
        self.0 += "<table>\n<tbody>\n";
        for (name, value) in facts.into_iter().filter(|fact| !fact.1.is_empty()) {
            let _ = writeln!(self.0, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(&value));
        }
        self.0 += "</tbody>\n</table>\n";
    }

    /// A table; columns after the first hold numbers.
    pub fn table(&mut self, head: &[String], rows: impl IntoIterator<Item = Vec<Cell>>) {
        self.0 += "<div class=\"wide\">\n<table>\n<thead><tr>";
        for (k, name) in head.iter().enumerate() {
            let class = if k == 0 { "" } else { " class=\"n\"" };
            let _ = write!(self.0, "<th{class}>{}</th>", escaped(name));
        }
        self.0 += "</tr></thead>\n<tbody>\n";
        for row in rows {
            self.0 += "<tr>";
            for cell in row {
                let _ = match cell {
                    Cell::Head(text) => write!(self.0, "<th>{}</th>", escaped(&text)),
                    Cell::Number(text) => write!(self.0, "<td class=\"n\">{}</td>", escaped(&text)),
                    Cell::Zero => write!(self.0, "<td class=\"n zero\">0</td>"),
                };
            }
            self.0 += "</tr>\n";
        }
        self.0 += "</tbody>\n</table>\n</div>\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_data_becomes_markup() {
        let mut page = Page::new("<b>&\"x\"");
        page.facts([("a<", "<script>".into()), ("empty", String::new())]);
        page.table(&["v".into()], [vec![Cell::Head("x<y".into()), Cell::Number("'".into()), Cell::Zero]]);
        let page = page.end();
        assert!(page.contains("<title>&lt;b&gt;&amp;&quot;x&quot;</title>"), "{page}");
        assert!(page.contains("<th>a&lt;</th><td>&lt;script&gt;</td>") && !page.contains("empty"));
        assert!(page.contains("<th>x&lt;y</th><td class=\"n\">&#39;</td>"));
    }
}
