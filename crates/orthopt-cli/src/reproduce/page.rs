//! The files of a reproduction: CSV, JSON, Markdown and an HTML page with the curves.

use std::path::Path;

use super::grid::{Finished, reading, table};
use super::sheet::{Drawing, Grid};
use crate::export::html::markup::{Cell, Page};
use crate::export::to_file;
use crate::picture::chart::{About, Chart};
use crate::picture::curves::{Convergence, Curve};
use crate::text;
use orthopt_papers::item::Item;
use orthopt_papers::items::explanation;

/// An item with its cells.
#[derive(Clone, Debug)]
pub struct Section {
    pub item: &'static Item,
    pub finished: Vec<Finished>,
    /// Cells that could not be run, and why.
    pub missing: Vec<String>,
    /// Drawing in place of cells.
    pub drawing: Option<Drawing>,
}

impl Section {
    fn grid(&self) -> Grid {
        self.drawing.as_ref().map_or_else(|| table(&self.finished), |d| d.grid.clone())
    }

    /// True if there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.drawing.is_none() && self.finished.iter().all(|d| d.records.is_empty())
    }

    /// Notes below the table.
    fn notes(&self) -> Vec<String> {
        if let Some(drawing) = &self.drawing {
            return drawing.notes.clone();
        }
        let mut notes = reading(&self.finished);
        if !self.is_empty() {
            notes.extend(explanation(self.item.name).map(String::from));
        }
        let mut stand_ins: Vec<String> = self
            .finished
            .iter()
            .filter_map(|d| {
                d.cell.data.likeness.remark().map(|what| format!("* {}: {what}.", d.cell.dataset))
            })
            .collect();
        stand_ins.dedup();
        let second = self.finished.iter().find_map(|d| d.cell.plan.second).filter(|_| !self.is_empty());
        notes.extend(second.map(|second| second.meaning().to_string()));
        notes.extend(stand_ins);
        if !self.missing.is_empty() {
            notes.push(format!("Not run: {}.", self.missing.join("; ")));
        }
        notes
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let notes: String = self.notes().iter().map(|n| format!("{n}\n")).collect();
        format!("{}: {}\n\n{}\n{notes}", self.item.name, self.item.title, self.grid().text())
    }

    /// For the page.
    pub fn markdown(&self) -> String {
        let notes: String = self.notes().iter().map(|n| format!("{}\n\n", n.replace('*', "\\*"))).collect();
        let again = self.command().map_or(String::new(), |c| format!("One run by itself: `{c}`\n\n"));
        format!("## {}: {}\n\n{}\n{notes}{again}", self.item.name, self.item.title, self.grid().markdown())
    }

    /// The command of the first record, data by the file's name.
    fn command(&self) -> Option<String> {
        let record = self.finished.iter().flat_map(|d| &d.records).next()?;
        let short = |w: &String| Path::new(w).file_name().and_then(|f| f.to_str()).unwrap_or(w).to_string();
        Some(format!("orthopt solve {}", record.options.iter().map(short).collect::<Vec<_>>().join(" ")))
    }

    fn show(&self, page: &mut Page) -> anyhow::Result<()> {
        page.section(self.item.name, &format!("{}: {}", self.item.name, self.item.title));
        let grid = self.grid();
        let row = |cells: Vec<String>| {
            let first_is_a_name = |(k, cell)| if k == 0 { Cell::Head(cell) } else { Cell::Number(cell) };
            cells.into_iter().enumerate().map(first_is_a_name).collect()
        };
        page.table(&grid.header, grid.rows.into_iter().map(row));
        self.notes().iter().for_each(|note| page.small(note));
        self.drawing.iter().for_each(|drawing| page.drawing(&drawing.svg));
        let ran = self.finished.iter().filter(|d| !d.records.is_empty());
        ran.map(curves).try_for_each(|chart| page.figure(&chart, "F of each method against time"))
    }
}

/// The convergence curves of a cell.
fn curves(done: &Finished) -> Chart {
    let curves: Vec<Curve> = done
        .records
        .iter()
        .map(|r| Curve { label: r.method.clone(), points: r.curve.clone() })
        .filter(|c| !c.points.is_empty())
        .collect();
    let title = format!("{}, {}", done.cell.item.name, done.cell.label());
    let about = About { title: Some(title), ..About::default() };
    let remark = format!("{} s per method", text::exact(done.cell.seconds));
    Convergence { about, runs: curves, remark, ..Convergence::default() }.chart()
}

const TITLE: &str = "The papers' tables on this machine";
const INTRODUCTION: &str = "\
F_min is the lowest F of all methods in a cell. The other columns are F - F_min of each method; ¹ ² ³ mark the three lowest.
The row below has the numbers of the paper, with the F_min of its own table, or its F where it prints no differences. Our F is that of an X with X'X = I (X'JX = J) to
rounding. If a paper states the infeasibility of its X, the number is in brackets. A chain A+B has the time limit for each of
its parts. auto is the default search over solvers and starts (docs/mathematics.md, section 16).";

/// All sections as one Markdown page.
pub fn markdown(sections: &[Section], command: &str) -> String {
    let body: String = sections.iter().map(Section::markdown).collect();
    format!("# {TITLE}\n\nWritten by `{command}`; do not edit.\n\n{INTRODUCTION}\n\n{body}")
        .trim_end()
        .to_string()
        + "\n"
}

/// Writes all files of the sections into `folder`.
///
/// # Errors
/// One of them cannot be written.
pub fn write(sections: &[Section], folder: &Path, command: &str) -> anyhow::Result<()> {
    let save = |name: &str, text: &str| to_file(&folder.join(name), |out| out.write_all(text.as_bytes()));
    for section in sections {
        let name = section.item.name.replace('/', "-");
        if let Some(drawing) = &section.drawing {
            save(&format!("{name}.svg"), &drawing.svg)?;
            save(&format!("{name}.csv"), &drawing.grid.csv())?;
            save(&format!("{name}.md"), &section.markdown())?;
            continue;
        }
        save(&format!("{name}.csv"), &csv(section))?;
        let records: Vec<_> = section.finished.iter().flat_map(|d| &d.records).collect();
        save(&format!("{name}.json"), &(serde_json::to_string_pretty(&records)? + "\n"))?;
        save(&format!("{name}.md"), &section.markdown())?;
    }
    save("reproduction.md", &markdown(sections, command))?;
    save("index.html", &html(sections)?)
}

fn csv(section: &Section) -> String {
    let mut out = String::from(
        "item,dataset,other_data,rows,cols,lambda,rank,share,time_limit,method,status,objective,feasibility,nnz,criticality,\
         raw_objective,raw_feasibility,seconds,paper_f_min,paper_above,paper_second,paper_objective\n",
    );
    let cell = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
    for done in &section.finished {
        for r in &done.records {
            let printed = done.printed();
            let words = [
                r.item.clone(),
                r.dataset.clone(),
                r.stand_in.is_some().to_string(),
                r.rows.to_string(),
                r.cols.to_string(),
                cell(r.lambda),
                r.rank.map_or(String::new(), |r| r.to_string()),
                cell(r.share),
                r.time_limit.to_string(),
                r.method.clone(),
                r.status.clone(),
                r.objective.to_string(),
                r.feasibility.to_string(),
                r.nnz.to_string(),
                cell(r.criticality),
                cell(r.raw_objective),
                cell(r.raw_feasibility),
                r.seconds.to_string(),
                cell(printed.and_then(|p| p.f_min)),
                cell(printed.and_then(|p| p.above(&r.method))),
                cell(printed.and_then(|p| p.second(&r.method))),
                cell(printed.and_then(|p| p.objective(&r.method))),
            ];
            out += &(words.join(",") + "\n");
        }
    }
    out
}

fn html(sections: &[Section]) -> anyhow::Result<String> {
    let mut page = Page::new(TITLE);
    page.lead(INTRODUCTION);
    sections.iter().try_for_each(|section| section.show(&mut page))?;
    Ok(page.end())
}
