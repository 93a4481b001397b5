//! Tests the prompt as a person uses it: in a terminal of 80 columns and 24 lines, which tmux
//! emulates.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The maximum time to wait for a text. A passing test waits less.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal with a session of anonsql, which ends when the value is dropped.
struct Terminal {
    socket: String,
    folder: Arc<TempDir>,
}

impl Terminal {
    fn new() -> Self {
        Self::with(&[])
    }

    /// Starts a session with these environment variables, and waits for its prompt.
    fn with(variables: &[(&str, &str)]) -> Self {
        Self::within(Arc::new(tempfile::tempdir().unwrap()), variables)
    }

    /// Starts another session with the history and the settings of this one. It has its own tmux
    /// server, because the server of an ended session may still be exiting.
    fn again(&self) -> Self {
        Self::within(Arc::clone(&self.folder), &[])
    }

    fn within(folder: Arc<TempDir>, variables: &[(&str, &str)]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let terminal = Self {
            socket: format!("anonsql-test-{}-{count}", std::process::id()),
            folder,
        };
        terminal.start(variables);
        terminal
    }

    fn start(&self, variables: &[(&str, &str)]) {
        let history = self.path("history");
        let mut line = vec!["new-session", "-d", "-x", "80", "-y", "24", "env"];
        let history = format!("ANONSQL_HISTORY={}", history.display());
        let variables: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let config = format!("XDG_CONFIG_HOME={}", self.path("config").display());
        line.extend(["PAGER=", &history, &config]);
        line.extend(variables.iter().map(String::as_str));
        line.push(env!("CARGO_BIN_EXE_anonsql"));
        self.tmux(&line);
        self.wait("the prompt", |shown| shown.trim_end().ends_with("anonsql>"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        self.tmux_with(arguments, "")
    }

    fn tmux_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-L", &self.socket])
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env_remove("TMUX")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// Types a text without interpreting it.
    fn types(&self, text: &str) {
        // tmux would interpret a `;` at the end of an argument as the end of its command.
        let text = match text.strip_suffix(';') {
            Some(before) => format!("{before}\\;"),
            None => text.to_string(),
        };
        self.tmux(&["send-keys", "-l", "--", &text]);
    }

    /// Types a text and presses Enter.
    fn enters(&self, text: &str) {
        self.types(text);
        self.press("Enter");
    }

    /// Presses a key, which is given by its name in tmux, such as `C-c` or `Tab`.
    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Pastes a text. If `marked`, the text is between the marks of a bracketed paste.
    fn pastes(&self, text: &str, marked: bool) {
        self.tmux_with(&["load-buffer", "-"], text);
        self.tmux(if marked {
            &["paste-buffer", "-p"]
        } else {
            &["paste-buffer"]
        });
    }

    /// Returns everything that was shown, including the lines that have left the screen.
    fn shown(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-S", "-"]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the shown text, as soon as `wanted` accepts it.
    fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let shown = self.shown();
            if wanted(&shown) {
                return shown;
            }
            assert!(started.elapsed() < PATIENCE, "waited in vain for {what}:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the text is shown, and returns everything that is shown.
    fn waits_for(&self, text: &str) -> String {
        self.wait(text, |shown| shown.contains(text))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // If the session has ended, the server is already gone.
        let _ = Command::new("tmux")
            .args(["-L", &self.socket, "kill-server"])
            .stderr(Stdio::null())
            .status();
    }
}

/// Returns five statements whose results are 100 to 104, each with its own column name.
fn five() -> String {
    (0..5).map(|i| format!("SELECT {i} +\n  100 AS sum{i};\n")).collect()
}

/// Returns true if `shown` contains the results of the five statements once each, in order.
fn answered(shown: &str) -> bool {
    let sums: Vec<&str> = shown.lines().filter(|l| l.starts_with("|  10")).collect();
    let all: Vec<String> = (0..5).map(|i| format!("|  {} |", 100 + i)).collect();
    assert!(sums.len() <= 5, "{shown}");
    sums == all
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn a_paste_is_run_in_order_and_none_of_it_is_lost() {
    for marked in [false, true] {
        let terminal = Terminal::new();
        terminal.pastes(&five(), marked);
        if marked {
            terminal.press("Enter");
        }
        let shown = terminal.wait("five answers", answered);
        assert!(marked || shown.contains("\n    ...>   100 AS sum3;\n"), "{shown}");
        terminal.enters("SELECT 'after' || 'wards' AS it;");
        assert!(answered(&terminal.waits_for("| afterwards |")));
    }
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn what_is_typed_while_a_statement_runs_waits_for_the_prompt() {
    let terminal = Terminal::new();
    terminal.enters("SELECT count(*) AS many FROM generate_series(1, 30000000) WHERE value % 7 = 3;");
    // This line is longer than the maximum length of a line that the system would keep.
    let long = "x".repeat(6000);
    terminal.types(&format!(
        "SELECT length('{long}') AS len; SELECT 'typed' || ' ahead' AS it"
    ));
    terminal.enters(";");
    let shown = terminal.waits_for("| typed ahead |");
    let order: Vec<usize> = ["| 4285714 |", "| 6000 |", "| typed ahead |"]
        .iter()
        .map(|text| shown.find(text).unwrap_or_else(|| panic!("{text}\n{shown}")))
        .collect();
    assert!(order.is_sorted(), "{shown}");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn columns_of_a_file_complete() {
    let terminal = Terminal::new();
    terminal.types("SELECT min(nat FROM 'data/census.parquet';");
    for _ in 0.." FROM 'data/census.parquet';".len() {
        terminal.press("Left");
    }
    terminal.press("Tab");
    terminal.waits_for("SELECT min(native_country FROM");
    terminal.types(") AS least");
    terminal.press("Enter");
    terminal.waits_for("| least ");
    // The clauses of a statement, and columns on its next line.
    terminal.enters("ANONYMIZE 'data/census.parquet'");
    terminal.types("quasi id");
    terminal.press("Tab");
    terminal.waits_for("...> quasi identifiers");
    terminal.types("(marital");
    terminal.press("Tab");
    terminal.waits_for("...> quasi identifiers (marital_status");
    // Paths in quotes.
    terminal.press("C-c");
    terminal.types("SELECT * FROM 'data/cens");
    terminal.press("Tab");
    terminal.waits_for("anonsql> SELECT * FROM 'data/census");
}

/// Keys that arrive together with Ctrl-C are kept.
#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn what_is_typed_after_control_c_is_kept() {
    let terminal = Terminal::new();
    for number in 0..20 {
        let mut keys = vec!["send-keys".to_string(), "h".into(), "C-c".into()];
        let statement = format!("SELECT 'kept' || {number} AS it");
        keys.extend(
            statement
                .chars()
                .map(|c| if c == ' ' { "Space".into() } else { c.to_string() }),
        );
        keys.extend(["\\;".into(), "Enter".into()]);
        terminal.tmux(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        terminal.waits_for(&format!("| kept{number} "));
    }
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn control_c_clears_the_line_and_ends_a_statement() {
    let terminal = Terminal::new();
    terminal.types("SELECT half");
    terminal.press("C-c");
    terminal.enters("SELECT 'whole' AS it;");
    terminal.waits_for("| whole |");
    terminal.enters("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000000) b;");
    // Ctrl-C may come before the statement runs. Then it only clears the line.
    terminal.wait("the end of the statement", |shown| {
        let ended = shown.contains("error: interrupted");
        if !ended {
            terminal.press("C-c");
        }
        ended
    });
    terminal.enters("SELECT 'more'");
    terminal.waits_for("    ...>");
    terminal.enters("\\r");
    terminal.waits_for("discarded");
    terminal.enters("SELECT 'going ' || 'on' AS it;");
    terminal.waits_for("| going on |");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn a_wide_table_fits_the_terminal_whatever_its_size() {
    let terminal = Terminal::new();
    let columns: Vec<String> = (0..300).map(|i| format!("column1 + {i} AS c{i}")).collect();
    let sql = format!(
        "CREATE VIEW wide AS SELECT {} FROM (VALUES (1), (2));\n",
        columns.join(", ")
    );
    std::fs::write(terminal.path("wide.sql"), sql).unwrap();
    terminal.enters(&format!("\\i {}", terminal.path("wide.sql").display()));
    let shown_columns = |shown: &str, width: usize| -> usize {
        let said = shown
            .lines()
            .rfind(|l| l.contains(" of 300 columns"))
            .unwrap_or_default();
        let table: Vec<&str> = shown.lines().filter(|l| l.starts_with(['+', '|'])).collect();
        assert!(table.iter().all(|l| l.chars().count() <= width), "{shown}");
        said.trim_start_matches("... ")
            .split(' ')
            .next()
            .unwrap_or_default()
            .parse()
            .unwrap_or(0)
    };
    terminal.enters("SELECT * FROM wide;");
    let shown = terminal.waits_for(" of 300 columns");
    assert!(
        shown.contains("| c0 | c1 |") && shown.contains(" | … | ") && shown.contains("| c299 |"),
        "{shown}"
    );
    let narrow = shown_columns(&shown, 80);
    assert!(narrow > 5, "{shown}");
    terminal.tmux(&["resize-window", "-x", "120", "-y", "30"]);
    terminal.enters("SELECT c0 AS again, * FROM wide;");
    terminal.enters("SELECT * FROM wide;");
    let wider = |shown: &str| shown.matches(" of 300 columns").count() == 2;
    let shown = terminal.wait("the wider table", wider);
    assert!(shown_columns(&shown, 120) > narrow, "{shown}");
    terminal.enters("\\format csv");
    terminal.enters("SELECT * FROM wide;");
    terminal.waits_for("c298,c299");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn history_keeps_statements_across_sessions() {
    let terminal = Terminal::new();
    terminal.enters("SELECT");
    terminal.waits_for("    ...>");
    terminal.enters("  'kept' AS it;");
    terminal.waits_for("| kept |");
    terminal.enters("quit");
    let gone = || {
        let alive = Command::new("tmux")
            .args(["-L", &terminal.socket, "has-session"])
            .output();
        !alive.unwrap().status.success()
    };
    let started = Instant::now();
    while !gone() {
        assert!(started.elapsed() < PATIENCE, "{}", terminal.shown());
        std::thread::sleep(Duration::from_millis(20));
    }
    let terminal = terminal.again();
    terminal.press("Up");
    terminal.press("Up");
    terminal.waits_for("'kept' AS it;");
    terminal.press("Enter");
    terminal.waits_for("| kept |");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn a_pager_gets_what_is_longer_than_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let paged = folder.path().join("paged");
    let terminal = Terminal::with(&[("PAGER", &format!("cat >> {}", paged.display()))]);
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    terminal.enters("SELECT value AS short FROM generate_series(1, 10);");
    terminal.waits_for("| short |");
    assert_eq!(read(&paged), "");
    terminal.enters("SELECT value AS long FROM generate_series(1, 30);");
    terminal.wait("the pager", |_| read(&paged).contains("|   30 |"));
    assert!(!terminal.shown().contains("|   30 |"));
    terminal.enters("\\pset pager off");
    terminal.waits_for("No pager is used");
    terminal.enters("SELECT value AS long FROM generate_series(1, 30);");
    terminal.waits_for("|   30 |");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn results_and_statements_go_where_they_are_sent() {
    let terminal = Terminal::with(&[("EDITOR", "sed -i s/first/second/")]);
    let file = terminal.path("rows.csv");
    terminal.enters("\\format csv");
    terminal.enters(&format!("\\o {}", file.display()));
    terminal.enters("SELECT 1 AS a; SELECT NULL AS b;");
    terminal.enters("\\o");
    terminal.waits_for("shown here.");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a\n1\nb\n\"\"\n");
    terminal.enters("\\format table");
    terminal.enters("SELECT 'first' || ' edition' AS it;");
    terminal.waits_for("| first edition |");
    terminal.enters("\\e");
    terminal.waits_for("| second edition |");
    terminal.enters(&format!("\\! cp '{0}' '{0}.copy' && echo copied", file.display()));
    terminal.waits_for("\ncopied");
    terminal.enters("\\x on");
    terminal.enters("SELECT NULL AS nothing, 'NULL' AS something;");
    let shown = terminal.waits_for("something | 'NULL'");
    assert!(shown.contains("nothing   | NULL"), "{shown}");
}

#[test]
#[cfg_attr(not(has_tmux), ignore = "needs tmux: install it")]
fn a_join_that_does_not_stop_leaves_the_prompt_alive() {
    let terminal = Terminal::new();
    terminal.enters("CREATE TABLE n AS SELECT value AS x FROM generate_series(1, 400000);");
    terminal.enters("SELECT 'it is ' || 'made' AS state FROM n LIMIT 1;");
    terminal.waits_for("it is made");
    terminal.enters("SELECT count(*) FROM n a, n b WHERE a.x + b.x > 799999;");
    std::thread::sleep(Duration::from_secs(1));
    terminal.press("C-c");
    terminal.waits_for("interrupted");
    terminal.enters("SELECT 40 + 2 AS answer FROM n LIMIT 1;");
    terminal.waits_for("|     42 |");
}
