//! Tests of the report of an invented release: the texts that it must contain, and those that it
//! must not contain.

use super::*;

fn html(report: &Report) -> String {
    report.render(ReportFormat::Html).unwrap()
}

#[test]
fn the_markdown_of_a_report() {
    insta::assert_snapshot!(sample::report().render(ReportFormat::Markdown).unwrap());
}

#[test]
fn json_is_the_report() {
    let report = sample::report();
    let text = report.render(ReportFormat::Json).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn a_page_loads_and_runs_nothing() {
    let page = html(&sample::report());
    for forbidden in [
        "<script",
        "http://",
        "https://",
        "url(",
        "@import",
        "<link",
        "<img",
        "src=",
        "onclick",
        "javascript:",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("name=\"viewport\"") && page.contains("@media print") && page.contains("default-src 'none'"));
}

#[test]
fn every_element_that_is_opened_is_closed() {
    let page = html(&sample::report());
    let body = &page[page.find("<body>").unwrap()..page.find("</html>").unwrap()];
    let mut open: Vec<&str> = vec![];
    for tag in body.split('<').skip(1) {
        let tag = &tag[..tag.find('>').unwrap()];
        let name = tag.split([' ', '\n']).next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn names_are_text_wherever_they_stand() {
    let page = html(&sample::report());
    assert!(
        !page.contains("<b>|") && page.contains("zip &lt;b&gt;|`*") && page.contains("patients &amp; &lt;friends&gt;")
    );
}

#[test]
fn it_is_evidence_and_no_certificate() {
    for format in [ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Json] {
        let text = sample::report().render(format).unwrap().to_lowercase();
        assert!(!text.contains("certif") && !text.contains("guarante"), "{format:?}");
    }
}

#[test]
fn the_questions_are_answered_by_the_figures() {
    let verdicts = |r: &Report| -> Vec<&str> { section::tiles(r).iter().map(|t| t.answer.verdict).collect() };
    let mut report = sample::report();
    assert_eq!(
        verdicts(&report),
        [
            "Not by the quasi-identifiers",
            "Reduced, to classes",
            "Yes, for some",
            "Some detail"
        ]
    );
    report.disclosure[1].rows_in_uniform_classes = 0;
    assert_eq!(verdicts(&report)[2], "Not constrained");
    report.disclosure.pop();
    assert_eq!(verdicts(&report)[2], "Limited");
    report.disclosure.pop();
    assert_eq!(verdicts(&report)[2], "Not assessed");
    report.release.smallest_class = Some(1);
    report.risks[0].after = Some(1.0);
    assert_eq!(verdicts(&report)[..2], ["Yes", "Yes"]);
    report.columns[0].released = true;
    assert_eq!(verdicts(&report)[1], "Yes, by pseudonym");
}

#[test]
fn what_is_lost_is_said_by_column() {
    let said = |losses: &[(u8, f64)]| {
        let mut report = sample::report();
        for (column, (level, loss)) in report.columns[1..].iter_mut().zip(losses) {
            let g = column.generalization.as_mut().unwrap();
            (g.level, g.loss_by_generalization, g.loss_by_suppression) = (Some(*level), *loss, 0.0);
        }
        let tile = section::tiles(&report).pop().unwrap();
        (tile.answer.verdict, markdown::render(&page::page(&report).unwrap()))
    };
    let (verdict, page) = said(&[(1, 0.1), (1, 0.2)]);
    assert!(
        verdict == "Little" && page.contains("`age` lost 10% and **zip \\<b\\>\\|\\`\\*** 20%."),
        "{page}"
    );
    assert_eq!(said(&[(1, 0.1), (2, 0.3)]).0, "Some detail");
    let (verdict, page) = said(&[(4, 1.0), (1, 0.1)]);
    assert!(
        verdict == "Whole columns" && page.contains("`age` no longer says anything. "),
        "{page}"
    );
    let (verdict, page) = said(&[(4, 1.0), (4, 1.0)]);
    assert!(
        verdict == "Whole columns" && page.contains("no longer say anything. "),
        "{page}"
    );
}

#[test]
fn gaps_follow_the_columns() {
    let report = sample::report();
    let topics = |entity| -> Vec<String> {
        let gaps = not_covered(&report.columns, &[], entity);
        gaps.into_iter().map(|g| g.topic).collect()
    };
    let has = |topics: &[String], topic: &str| topics.iter().any(|t| t == topic);
    assert!(
        has(&topics(false), "Several records of one person") && !has(&topics(true), "Several records of one person")
    );
    assert!(has(&topics(false), "Columns released unchanged") && !has(&topics(false), "Pseudonyms"));
    for kind in crate::method::masks::MASKS {
        let mut columns = report.columns.clone();
        columns[0].released = true;
        columns[0].mask = Some(kind);
        let gaps = not_covered(&columns, &[], false);
        let gap = gaps.iter().find(|gap| gap.topic == kind.limits.0).unwrap();
        assert_eq!(gap.columns, [columns[0].name.as_str()]);
    }
    assert!(has(&topics(false), "Background knowledge") && has(&topics(false), "Other releases"));
}

#[test]
fn a_form_is_asked_for_by_name() {
    let of = |name: &str| ReportFormat::of(Path::new(name)).ok();
    assert_eq!(of("a/b.html"), Some(ReportFormat::Html));
    assert_eq!(of("b.HTM"), Some(ReportFormat::Html));
    assert_eq!(of("b.md"), Some(ReportFormat::Markdown));
    assert_eq!(of("b.json"), Some(ReportFormat::Json));
    assert_eq!((of("b.pdf"), of("b"), of(".html")), (None, None, None));
}
