//! Limits on nonzeros as given on the command line or in a config file.

use std::fmt;
use std::str::FromStr;

use orthopt::family::Limit;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::failure::usage;
use crate::options::SolveOptions;

/// `10`, `10,8,5` or `auto`; in a config file also `[10, 8, 5]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// One for all components, or one for each.
    Given(Vec<usize>),
    /// From the data.
    Auto,
}

const AUTO: &str = "auto";

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == AUTO {
            return Ok(Self::Auto);
        }
        let one = |part: &str| {
            let number: usize = part
                .trim()
                .parse()
                .map_err(|_| format!("`{part}` is not a whole number: give K, K1,K2,... or auto"))?;
            if number == 0 { Err("a component needs at least 1 nonzero".into()) } else { Ok(number) }
        };
        text.split(',').map(one).collect::<Result<_, _>>().map(Self::Given)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(AUTO),
            Self::Given(list) => {
                let list: Vec<_> = list.iter().map(usize::to_string).collect();
                f.write_str(&list.join(","))
            }
        }
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Given(list) if list.len() == 1 => serializer.serialize_u64(list[0] as u64),
            Self::Given(list) => list.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a whole number, a list of them, or a text like \"10,8,5\"")]
        enum Written {
            One(usize),
            List(Vec<usize>),
            Text(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::One(number) => number.to_string(),
            Written::List(list) => Self::Given(list).to_string(),
            Written::Text(text) => text,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The limit given by the options, if any.
///
/// # Errors
/// More than one.
pub fn limit(options: &SolveOptions) -> anyhow::Result<Option<Limit>> {
    let given = [
        options.nonzeros.clone().map(|counts| match counts {
            Counts::Given(list) => Limit::Nonzeros(list),
            Counts::Auto => Limit::Knee,
        }),
        options.total_nonzeros.map(Limit::Total),
        options.variables.map(Limit::Variables),
    ];
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(one), Some(other)) => Err(usage(format!(
            "--{} and --{} exclude each other: give one limit on nonzeros",
            one.option(),
            other.option()
        ))),
        (one, _) => Ok(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_written() {
        assert_eq!("10".parse(), Ok(Counts::Given(vec![10])));
        assert_eq!("10, 8,5".parse(), Ok(Counts::Given(vec![10, 8, 5])));
        assert!("10,x".parse::<Counts>().unwrap_err().contains("`x` is no whole number"));
        assert!("0".parse::<Counts>().is_err());
        #[derive(Serialize, Deserialize)]
        struct File {
            nonzeros: Counts,
        }
        for (text, counts) in [("4", vec![4]), ("[4, 3]", vec![4, 3]), ("'4,3'", vec![4, 3])] {
            let file: File = toml::from_str(&format!("nonzeros = {text}")).unwrap();
            assert_eq!(file.nonzeros, Counts::Given(counts));
            let again: File = toml::from_str(&toml::to_string(&file).unwrap()).unwrap();
            assert_eq!(again.nonzeros, file.nonzeros);
        }
        assert_eq!(toml::from_str::<File>("nonzeros = 'auto'").unwrap().nonzeros, Counts::Auto);
        assert!(toml::from_str::<File>("nonzeros = -1").is_err());
    }
}
