//! `\l`: lists catalogs and schemas.

use super::entry::{CommandArgument, Entry, Flow};

pub(super) const ENTRY: Entry = Entry {
    name: "\\l",
    words: &[],
    usage: "",
    summary: "list catalogs and schemas",
    argument: CommandArgument::None,
    run: |shell, _| {
        shell.runner.run_text(
            "SELECT catalog_name AS catalog, schema_name AS schema FROM information_schema.schemata \
             WHERE schema_name <> 'information_schema' ORDER BY catalog, schema",
        )?;
        Ok(Flow::Go)
    },
};
