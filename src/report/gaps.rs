//! The topics that the figures of a report do not cover: some for every release, others depending
//! on its columns.

use super::{Column, Gap, Role};
use crate::masks::MASKS;

/// Returns the gaps of a release with these columns. `free_text` names the text columns that are
/// released as they are; `entity` is true if persons were counted instead of records.
pub fn not_covered(columns: &[Column], free_text: &[String], entity: bool) -> Vec<Gap> {
    // One function: a list of topics with their texts.
    let named = |keep: &dyn Fn(&Column) -> bool| -> Vec<String> {
        let released = columns.iter().filter(|c| c.released && keep(c));
        released.map(|c| c.name.clone()).collect()
    };
    let mut gaps = vec![gap(
        "The roles of the columns",
        "Which columns are quasi-identifiers was decided by whoever wrote the statement. A column that others can know, \
         and that was given another role, is not protected.",
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
        "Columns released as they are",
        "No model counts these columns. A rare value in one can name a person as well as an identifier can, and several \
         together can single out within a class.",
        named(&|c| matches!(c.role, Role::Kept | Role::ClassLabel | Role::Entity) && c.mask.is_none()),
    );
    about(
        "Lists of items together with other columns",
        "The lists are in no class. The models of classes are about the other columns alone, and km_anonymity is about the \
         items alone: someone who knows both of a person, more items than the model says, or items that the person does not \
         have, can find fewer records.",
        named(&|c| c.role == Role::ItemSet),
    );
    about(
        "Free text",
        "The text in these columns is released as it is and was not searched for names, places, dates or other \
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
            "Every record was counted as a person. Where a person can have several, a class has fewer persons than \
             records; ENTITY (column) counts persons.",
        ));
    }
    gaps.extend([
        gap(
            "Background knowledge",
            "Someone who knows more of a person than the quasi-identifiers, or knows others in the same class, can rule out \
             values and narrow a class down.",
        ),
        gap(
            "Presence in the data",
            "The models do not hide that a person is in the data, which can be telling by itself.",
        ),
        gap(
            "Other releases",
            "Two releases about the same persons, side by side, can tell what neither tells alone. Only this one was counted.",
        ),
        gap(
            "Knowledge of the method",
            "The levels are those that lose least and satisfy the models. Someone who reasons from that choice can \
             sometimes learn more than from the data (minimality attack).",
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
