//! Checks that every manifest conforms to `docs/src/manifest.schema.json`.
//!
//! The checks cover the few keywords of JSON Schema that the file uses. Any other keyword fails.

use serde_json::Value;
use std::path::Path;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/manifest.schema.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Returns the faults of the manifests in a folder against the schema, at most one line per
/// manifest.
pub fn faults_below(folder: &Path) -> Vec<String> {
    let (schema, mut folders, mut faults) = (schema(), vec![folder.to_path_buf()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with("_manifest.json") {
                let manifest = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                faults.extend(fault(&schema, &schema, &manifest, &path.display().to_string()));
            }
        }
    }
    faults
}

/// Returns the first fault of a value against a part of the schema; `None` if the value conforms.
fn fault(whole: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let Some(words) = schema.as_object() else {
        return (schema == &Value::Bool(false)).then(|| format!("{at} is not allowed"));
    };
    words.iter().find_map(|(word, said)| {
        let each = |of: &Value| fault(whole, of, value, at);
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" | "minimum" | "maximum" => None,
            "$ref" => each(
                whole
                    .pointer(said.as_str().unwrap().strip_prefix('#').unwrap())
                    .unwrap(),
            ),
            "anyOf" | "oneOf" => {
                let faults: Option<Vec<String>> = said.as_array().unwrap().iter().map(each).collect();
                faults.map(|faults| faults.join(" and "))
            }
            "const" => (said != value).then(|| format!("{at} is not {said}")),
            "enum" => (!said.as_array().unwrap().contains(value)).then(|| format!("{at} is none of {said}")),
            "type" => {
                let types = said.as_array().cloned().unwrap_or_else(|| vec![said.clone()]);
                let is_it = types.iter().any(|name| is_of_type(name.as_str().unwrap(), value));
                (!is_it).then(|| format!("{at} is no {said}"))
            }
            "required" => {
                let mut names = said.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                let missing = value
                    .is_object()
                    .then(|| names.find(|name| value.get(name).is_none()))?;
                missing.map(|name| format!("{at} has no {name}"))
            }
            "properties" => {
                let mut fields = value.as_object()?.iter();
                fields.find_map(|(name, own)| fault(whole, said.get(name)?, own, &format!("{at}.{name}")))
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                let mut others = value.as_object()?.iter();
                others.find_map(|(name, own)| match known.and_then(|known| known.get(name)) {
                    Some(_) => None,
                    None => fault(whole, said, own, &format!("{at}.{name}")),
                })
            }
            "items" => value
                .as_array()?
                .iter()
                .find_map(|item| fault(whole, said, item, &format!("{at}[]"))),
            word => panic!("the check does not know the word {word:?} of JSON Schema"),
        }
    })
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        name => panic!("the check does not know the type {name:?} of JSON Schema"),
    }
}

/// Faults are found at several depths of a manifest.
#[tokio::test]
async fn faults_are_found() {
    let scratch = tempfile::tempdir().unwrap();
    let context = crate::report::context(1);
    let sql = format!(
        "CREATE TABLE people AS SELECT * FROM (VALUES (31, 'flu'), (33, 'cold')) AS t (age, illness); \
         CREATE HIERARCHY age AS INTERVALS (5, 10); \
         ANONYMIZE people TO '{}' QUASI IDENTIFIERS (age USING age) SENSITIVE (illness) SATISFYING k_anonymity(2)",
        scratch.path().join("release").display()
    );
    crate::common::collect(&context, &sql).await;
    assert_eq!(faults_below(scratch.path()), Vec::<String>::new());
    let path = scratch.path().join("release/_manifest.json");
    let whole: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    type Edit = (&'static str, fn(&mut Value));
    let edits: [Edit; 5] = [
        (".extra is not allowed", |m| m["extra"] = Value::Null),
        ("has no statement", |m| {
            drop(m.as_object_mut().unwrap().remove("statement"))
        }),
        (".rows_out is no", |m| m["rows_out"] = "2".into()),
        (".columns[].role", |m| m["columns"][0]["role"] = "guest".into()),
        (".checks[].name is no", |m| m["checks"][0]["name"] = 1.into()),
    ];
    for (expected, edit) in edits {
        let mut manifest = whole.clone();
        edit(&mut manifest);
        std::fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
        let faults = faults_below(scratch.path());
        assert!(
            faults.len() == 1 && faults[0].contains(expected),
            "{expected}: {faults:?}"
        );
    }
}
