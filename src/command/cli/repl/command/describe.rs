//! `\d`: lists tables and hierarchies, or describes one.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare};
use crate::base::error::{Error, Result};
use crate::base::quoting::{ident, literal};

pub(super) const ENTRY: Entry = Entry {
    name: "\\d",
    words: &[],
    usage: "[NAME]",
    summary: "list tables and hierarchies, or describe one, or a file in quotes",
    argument: CommandArgument::Name,
    run,
};

/// The query for all tables except those in the information schema.
pub(super) const TABLES: &str = "SELECT table_name AS name, CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind \
     FROM information_schema.tables WHERE table_schema <> 'information_schema'";

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let name = bare(argument);
    if name.is_empty() {
        list(shell)?;
    } else {
        describe(shell, name)?;
    }
    Ok(Flow::Go)
}

fn list(shell: &Shell) -> Result<()> {
    let hierarchies = shell.runner.context().hierarchies();
    let rows = hierarchies
        .iter()
        .map(|h| format!(" UNION ALL SELECT {}, 'hierarchy'", literal(h)));
    let sql = format!("{TABLES}{} ORDER BY kind DESC, name", rows.collect::<String>());
    shell.runner.run_text(&sql)
}

/// Describes a table or a hierarchy, or both if they have the same name.
fn describe(shell: &Shell, name: &str) -> Result<()> {
    let (runner, session) = (&shell.runner, shell.runner.context().session());
    // As in SQL, a quoted name is used unchanged, and any other name is converted to lower case.
    let meant = match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_lowercase(),
    };
    if name.starts_with('\'') {
        return runner.run_text(&format!("DESCRIBE {name}"));
    }
    let hierarchies = runner.context().hierarchies();
    let is_hierarchy = hierarchies.contains(&meant);
    if is_hierarchy {
        runner.run_text(&format!("DESCRIBE HIERARCHY {}", ident(&meant)))?;
    }
    if session.table_exist(name)? {
        return runner.run_text(&format!("DESCRIBE {name}"));
    }
    if is_hierarchy {
        return Ok(());
    }
    let tables = shell.names.tables();
    let known = tables.iter().chain(&hierarchies).map(String::as_str);
    Err(Error::unknown("table or hierarchy", name, known))
}
