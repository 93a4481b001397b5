//! Runs VERIFY over releases. An unchanged release must pass.

use super::Failure;
use super::case::{Case, Role};
use super::execute::Scene;
use anonsql::AnonContext;
use arrow::array::{Array, AsArray, RecordBatch};
use std::path::Path;

/// Returns the VERIFY statement for the release in `folder`. With `against`, VERIFY compares the
/// release with the source.
pub fn statement(case: &Case, scene: &Scene, folder: &Path, against: bool) -> String {
    let request = &case.request;
    let mut sql = format!(
        "VERIFY {} {}{}",
        super::print::literal(&folder.display().to_string()),
        request.quasi_clause(false),
        request.sensitive_clause(None)
    );
    if let Some(entity) = request.entity.as_ref().filter(|e| is_in_files(case, e)) {
        sql += &format!(" ENTITY ({})", super::print::quote(entity));
    }
    if request.population {
        sql += " POPULATION people";
    }
    sql += &format!(" {}", request.satisfying());
    if against {
        sql += &format!(" AGAINST {}", case.from(&scene.folder));
    }
    sql
}

fn is_in_files(case: &Case, column: &str) -> bool {
    matches!(
        case.request.role(column),
        Some(Role::Keep | Role::Class | Role::Items | Role::Drawn { .. } | Role::Sensitive { .. } | Role::Quasi { .. })
    )
}

/// Returns true if VERIFY can check every model. The files contain neither unreleased entities nor
/// the limits of single rows.
pub fn can_be_asked(case: &Case) -> bool {
    let request = &case.request;
    request.personal().is_none() && request.entity.as_ref().is_none_or(|e| is_in_files(case, e))
}

/// Returns the checks that failed.
pub fn failing(batches: &[RecordBatch]) -> Vec<String> {
    let mut failing = vec![];
    for batch in batches {
        let (Some(check), Some(ok)) = (batch.column_by_name("check"), batch.column_by_name("ok")) else {
            continue;
        };
        let (check, ok) = (check.as_string::<i32>(), ok.as_boolean());
        let failed = (0..batch.num_rows()).filter(|row| !ok.is_null(*row) && !ok.value(*row));
        failing.extend(failed.map(|row| check.value(row).to_string()));
    }
    failing
}

/// Returns true if a model needs data of the source: the values under labels, or the rows around a
/// class.
fn is_of_source(model: &str) -> bool {
    ["profitability", "n_t_closeness"].contains(&model)
}

/// Returns true if a quasi-identifier has the value `*`. Without the source, that value looks like
/// the label of the top at a level below the top.
fn holds_stars(case: &Case, scene: &Scene) -> bool {
    let is_star = |(column, ..): (&str, _, _, _)| {
        let mut cells = scene.source.column(column).iter();
        cells.any(|cell| cell.text.as_deref() == Some("*"))
    };
    case.request.quasi().any(is_star)
}

/// Checks that an untouched release in `folder` passes VERIFY.
pub async fn untouched(case: &Case, scene: &Scene, context: &AnonContext, folder: &Path) -> Result<(), Failure> {
    if !can_be_asked(case) {
        return Ok(());
    }
    for against in [false, true] {
        // The values under a label are those of the source, so a model that needs them is judged
        // only with the source.
        let counts_labels = case.request.models.iter().any(|m| is_of_source(&m.name));
        if (counts_labels || holds_stars(case, scene)) && !against {
            continue;
        }
        let sql = statement(case, scene, folder, against);
        match context.sql(&sql).await {
            Ok(batches) => {
                let failing = failing(&batches);
                if !failing.is_empty() {
                    return Err(Failure::new("verify", format!("{failing:?} by {sql}")));
                }
            }
            Err(e) => return Err(Failure::new("verify", format!("{:?} {e} by {sql}", e.kind()))),
        }
    }
    Ok(())
}
