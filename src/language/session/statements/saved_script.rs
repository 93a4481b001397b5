//! Writes a script that recreates objects of the session, such as hierarchies.

use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_url};
use crate::base::pool::blocking;
use crate::base::sealed::{Form, check_replaced, sealed};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::FileClause;
use crate::release::staging::StagedReport;
use std::path::{Path, PathBuf};

/// Writes `statements` as a script to a local file. Each hidden value is replaced by the text that
/// the user wrote for it. `statement` is the name of the running statement, and `what` is the word
/// for the saved objects in messages.
pub(super) async fn save_script(
    context: &AnonContext,
    file: &FileClause,
    (statement, what): (&str, &str),
    statements: Vec<String>,
) -> Result<Answer> {
    let path = expanded(&file.path)?;
    if is_url(&path) {
        return Err(Error::usage(format!(
            "{statement} TO {path:?}: a script is a local file; write it here and copy it"
        )));
    }
    let (path, overwrite) = (PathBuf::from(path.as_ref()), file.overwrite);
    let folder = path.parent().filter(|f| *f != Path::new("") && !f.is_dir());
    if let Some(folder) = folder {
        return Err(Error::usage(format!(
            "{statement} TO: there is no folder {}; create it first",
            folder.display()
        )));
    }
    let place = path.clone();
    blocking("looking for the script", move || check_replaced(&place, overwrite)).await?;
    let seen = context.seen();
    let lines = statements.into_iter().map(|statement| seen.in_statement(statement));
    let script: String = lines.map(|line| format!("{};\n", line.trim_end())).collect();
    if context.settings().dry_run {
        return Answer::done(format!("dry run: nothing was written to {}", file.path));
    }
    blocking("writing the script", move || {
        StagedReport::write(&path, sealed(script, Form::Sql), overwrite)?.publish()
    })
    .await?;
    Answer::done(format!("{what} saved to {}", file.path))
}
