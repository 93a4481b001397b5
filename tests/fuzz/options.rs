//! The command line: names of kinds, and `--cases`, `--seed`, `--case`, `--threads`. It ignores the
//! flags of libtest, which cargo or a user passes to every test binary.

/// The options on the command line.
#[derive(Debug, Clone)]
pub struct Options {
    /// The kinds to run, given as parts of their names like libtest's filters.
    names: Vec<String>,
    cases: Option<u64>,
    seed: u64,
    case: Option<u64>,
    pub threads: usize,
    /// True for `--list`, with which tools list the tests.
    pub list: bool,
}

/// The flags of libtest that are followed by a value.
const WITH_VALUE: &[&str] = &[
    "--test-threads",
    "--skip",
    "--format",
    "--color",
    "--logfile",
    "--shuffle-seed",
    "-Z",
];

impl Options {
    /// Reads the arguments.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = Self {
            names: vec![],
            cases: None,
            seed: 0,
            case: None,
            threads,
            list: false,
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) => (name.to_string(), Some(value.to_string())),
                None => (argument, None),
            };
            let mut number = |what: &str| {
                let text = inline.clone().or_else(|| arguments.next()).unwrap_or_default();
                let digits = text.replace('_', "");
                digits
                    .parse::<u64>()
                    .map_err(|_| format!("{what} needs a whole number, not {text:?}"))
            };
            match name.as_str() {
                "--cases" => options.cases = Some(number("--cases")?),
                "--seed" => options.seed = number("--seed")?,
                "--case" => options.case = Some(number("--case")?),
                "--threads" => options.threads = number("--threads")?.max(1) as usize,
                "--list" => options.list = true,
                flag if WITH_VALUE.contains(&flag) && inline.is_none() => {
                    arguments.next();
                }
                flag if flag.starts_with('-') => {}
                _ => options.names.push(name),
            }
        }
        Ok(options)
    }

    /// Returns true if this kind should run. Without a name, `--cases` and `--case` run only
    /// `default`.
    pub fn asks_for(&self, kind: &str, default: &str) -> bool {
        match self.names.is_empty() {
            true => (self.cases.is_none() && self.case.is_none()) || kind == default,
            false => self.names.iter().any(|name| kind.contains(name.as_str())),
        }
    }

    /// Returns the number of cases, and the number of the first case.
    pub fn range(&self, few: u64) -> (u64, u64) {
        match self.case {
            Some(case) => (1, self.seed.wrapping_add(case)),
            None => (self.cases.unwrap_or(few), self.seed),
        }
    }
}
