//! The topics that the figures in a report do not cover. Some topics apply to every release, and
//! others depend on the columns of the release.

use super::{ColumnSummary, Gap, ReportedRole};
use crate::method::masks::MASKS;

/// Returns the topics that are not covered for a release with these columns. `free_text` contains
/// the names of the text columns that are released unchanged. `entity` is true if persons were
/// counted instead of records.
pub fn not_covered(columns: &[ColumnSummary], free_text: &[String], entity: bool) -> Vec<Gap> {
    // This function is long because it lists topics with their texts.
    let named = |keep: &dyn Fn(&ColumnSummary) -> bool| -> Vec<String> {
        let released = columns.iter().filter(|c| c.released && keep(c));
        released.map(|c| c.name.clone()).collect()
    };
    let mut gaps = vec![gap(
        "The roles of the columns",
        "The author of the statement decided which columns are quasi-identifiers. A column that others can know is \
         not protected if it has another role.",
    )];
    let mut about = |topic: &str, detail: &str, columns: Vec<String>| {
        if !columns.is_empty() {
            gaps.push(Gap {
                columns,
                ..gap(topic, detail)
            });
        }
    };
    about(
        "Columns released unchanged",
        "No model counts these columns. A rare value in one of them can identify a person, and several values \
         together can single out a person within a class.",
        named(&|c| {
            matches!(
                c.role,
                ReportedRole::Kept | ReportedRole::ClassLabel | ReportedRole::Entity
            ) && c.mask.is_none()
        }),
    );
    about(
        "Lists of items together with other columns",
        "The lists are in no class. The models of classes cover only the other columns, and km_anonymity covers only \
         the items. Someone who knows both about a person, more items than the model assumes, or items that the \
         person does not have, can find fewer records.",
        named(&|c| c.role == ReportedRole::ItemSet),
    );
    about(
        "Free text",
        "The text in these columns is released unchanged and was not searched for names, places, dates or other \
         identifiers.",
        free_text.to_vec(),
    );
    for kind in MASKS {
        let (topic, text) = kind.limits;
        about(topic, text, named(&|c| c.mask == Some(kind)));
    }
    if !entity {
        gaps.push(gap(
            "Several records of one person",
            "Every record was counted as a person. If a person has several records, a class has fewer persons than \
             records; ENTITY (column) counts persons.",
        ));
    }
    gaps.extend([
        gap(
            "Background knowledge",
            "Someone who knows more about a person than the quasi-identifiers, or who knows other persons in the \
             same class, can exclude values and narrow a class down.",
        ),
        gap(
            "Presence in the data",
            "The models do not hide that a person is in the data, which can be sensitive by itself.",
        ),
        gap(
            "Other releases",
            "Two releases about the same persons can together reveal more than each alone. Only this release was \
             counted.",
        ),
        gap(
            "Knowledge of the method",
            "The levels satisfy the models and lose least. Someone who knows this rule can sometimes learn more than \
             the data shows (minimality attack).",
        ),
        gap(
            "Time",
            "The figures hold for the data and the models of this run. New data elsewhere, or new means, change the risk: \
             Opinion 05/2014 asks for it to be reassessed.",
        ),
        gap(
            "The law",
            "Whether the result is anonymous information depends on all means reasonably likely to be used to identify a \
             person (recital 26 GDPR). No count decides that.",
        ),
    ]);
    gaps
}

fn gap(topic: &str, detail: &str) -> Gap {
    Gap {
        topic: topic.into(),
        detail: detail.into(),
        columns: vec![],
    }
}
