//! Output of `reproduce list`.

use std::path::Path;

use orthopt_papers::datasets::{self, Likeness};
use orthopt_papers::item::Content;
use orthopt_papers::items::ITEMS;
use orthopt_papers::paper;

/// Every item with its title and its available data.
pub fn list(folder: Option<&Path>) -> String {
    let mut out = String::new();
    for item in ITEMS {
        out += &format!("{}\n    {}\n", item.name, item.title);
        match item.content {
            Content::Training(what) => {
                let is_here = datasets::find(what.dataset).is_some_and(|source| source.facts(folder).is_ok());
                let place = if is_here { "here" } else { "not here" };
                out += &format!("    {place}: {}\n", what.dataset);
            }
            Content::Landscapes => out += "    needs no data and no runs\n",
            Content::Runs(plan) => {
                let (mut here, mut not) = (Vec::new(), Vec::new());
                for name in plan.datasets {
                    match datasets::find(name).map(|source| source.locate(folder)).transpose() {
                        Ok(Some(data)) if matches!(data.likeness, Likeness::StandIn(_)) => {
                            here.push(format!("{name} (stand-in)"));
                        }
                        Ok(_) => here.push((*name).to_string()),
                        Err(_) => not.push(*name),
                    }
                }
                out += &format!("    here: {}\n", here.join(", "));
                if !not.is_empty() {
                    out += &format!("    not here: {}\n", not.join(", "));
                }
                let printed = plan.numbers.map_or(0, paper::cells);
                if printed > 0 {
                    out += &format!("    shown beside ours: the paper's numbers of {printed} cells\n");
                }
            }
        }
    }
    if folder.is_none() {
        out += "\n--data-dir DIR or ORTHOPT_DATA=DIR names the folder with the data sets.\n";
    }
    out
}
