//! Tests the report and the page of EXPLORE in a browser: on a phone, on a desktop and on paper.
//!
//! The browser measures the layout. A test page contains the report in a frame of the device's
//! width and looks for elements that exceed it. Pictures of both widths are stored for inspection
//! in `target/tmp/`.

use crate::common::{collect, context};
use std::path::Path;
use std::process::Command;

/// The browser that the build found.
const CHROMIUM: &str = match option_env!("ANONSQL_CHROMIUM_PATH") {
    Some(path) => path,
    None => "chromium",
};

/// Returns Chromium's output for `page`.
fn chromium(page: &Path, arguments: &[String]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(CHROMIUM)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args([
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--virtual-time-budget=5000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the elements of `report` that exceed a screen of this width, and the width that would be
/// sufficient. A table that scrolls within the page does not exceed the screen. The page must have
/// `sections` sections.
fn overflow(scratch: &Path, report: &str, width: u32, sections: u64) -> (Vec<String>, u32) {
    let framed = report.replace('&', "&amp;").replace('"', "&quot;");
    let page = scratch.join(format!("frame-{width}.html"));
    let script = "const d = document.querySelector('iframe').contentDocument, w = d.documentElement.clientWidth; \
        const out = [...d.querySelectorAll('body, body *')].filter(e => e.tagName != 'CAPTION' && !e.closest('.scroll table') && \
        e.getBoundingClientRect().right > w + 0.5).map(e => e.tagName); \
        document.title = JSON.stringify({ out, wide: d.documentElement.scrollWidth, shown: w, \
        high: d.documentElement.scrollHeight, sections: d.querySelectorAll('section').length });";
    let text = format!(
        "<!doctype html><title></title><body style=\"margin:0\"><iframe style=\"border:0;width:{width}px;height:900px\" \
         srcdoc=\"{framed}\"></iframe><script>window.onload = () => {{ {script} }}</script>"
    );
    std::fs::write(&page, text).unwrap();
    let dom = chromium(&page, &["--window-size=1400,1000".into(), "--dump-dom".into()]);
    let title = dom.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    let measured: serde_json::Value = serde_json::from_str(&title.replace("&amp;", "&")).unwrap();
    assert_eq!(measured["shown"], width, "{measured}");
    assert!(
        measured["high"].as_u64().unwrap() > 1500 && measured["sections"] == sections,
        "{measured}"
    );
    let out = measured["out"].as_array().unwrap().iter();
    let out = out.map(|e| e.as_str().unwrap().to_string()).collect();
    (out, measured["wide"].as_u64().unwrap() as u32)
}

/// Takes a picture of the page. Returns its width, its height and its size in bytes.
fn picture(page: &Path, to: &Path, width: u32, height: u32) -> (u32, u32, usize) {
    let arguments = [
        format!("--window-size={width},{height}"),
        format!("--screenshot={}", to.display()),
    ];
    chromium(page, &arguments);
    let png = std::fs::read(to).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20), png.len())
}

#[tokio::test]
#[cfg_attr(
    not(has_chromium),
    ignore = "needs Chromium; install it, or name it in ANONSQL_CHROMIUM"
)]
async fn a_report_fits_a_phone_a_desk_and_paper() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("report.html");
    let context = context(2);
    let long = "a_column_whose_name_is_much_longer_than_a_phone_is_wide_and_has_no_space_to_break_at";
    let statement = format!(
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet';
         CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
         CREATE HIERARCHY zip AS PREFIX (4, 3, 2);
         CREATE TABLE released AS
         ANONYMIZE (SELECT name, age, sex, zip, marital_status, occupation AS {long}, income, workclass FROM census)
         IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age, sex, zip USING zip, marital_status) SENSITIVE ({long}, income)
         KEEP (workclass) SATISFYING k_anonymity(5) AND l_diversity(2) ON {long} SUPPRESSING AT MOST 1 PERCENT
         REPORT TO '{}'",
        path.display()
    );
    collect(&context, &statement).await;
    let report = std::fs::read_to_string(&path).unwrap();

    for width in [360, 390, 768, 1280] {
        assert_eq!(
            overflow(scratch.path(), &report, width, 14),
            (vec![], width),
            "at {width} pixels"
        );
    }
    // An element that is too wide would be detected.
    let broken = report.replace("</header>", "<p style=\"width:600px\">too wide</p></header>");
    assert_eq!(overflow(scratch.path(), &broken, 390, 14), (vec!["P".into()], 616));

    let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let empty = scratch.path().join("empty.html");
    std::fs::write(&empty, "<!doctype html>").unwrap();
    for (name, width, height) in [("phone", 390, 6000), ("desk", 1280, 3600)] {
        let (wide, high, bytes) = picture(&path, &kept.join(format!("report-{name}.png")), width, height);
        let (_, _, nothing) = picture(&empty, &scratch.path().join("empty.png"), width, height);
        assert_eq!((wide, high), (width, height));
        assert!(
            bytes > nothing * 5,
            "{name}: {bytes} bytes, {nothing} for an empty page"
        );
    }

    let paper = kept.join("report.pdf");
    chromium(
        &path,
        &[
            format!("--print-to-pdf={}", paper.display()),
            "--no-pdf-header-footer".into(),
        ],
    );
    let pdf = std::fs::read(&paper).unwrap();
    let pages = memchr::memmem::find_iter(&pdf, b"/Type /Page\n").count();
    assert!(pdf.starts_with(b"%PDF") && (2..=7).contains(&pages), "{pages} pages");
}

/// If the table has rows and a node is selected, the script of the page has run.
#[tokio::test]
#[cfg_attr(
    not(has_chromium),
    ignore = "needs Chromium; install it, or name it in ANONSQL_CHROMIUM"
)]
async fn the_page_of_explore_fits_a_phone_and_a_desk_and_picks_the_best_node() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("lattice.html");
    let context = context(2);
    let statement = format!(
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet';
         CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
         CREATE HIERARCHY zip AS PREFIX (4, 3, 2);
         EXPLORE ANONYMIZE (SELECT age, sex, zip, marital_status FROM census)
         QUASI IDENTIFIERS (age USING age, sex, zip USING zip, marital_status)
         SATISFYING k_anonymity(5) SUPPRESSING AT MOST 1 PERCENT TO '{}'",
        path.display()
    );
    collect(&context, &statement).await;
    let page = std::fs::read_to_string(&path).unwrap();
    for width in [390, 768, 1440] {
        assert_eq!(
            overflow(scratch.path(), &page, width, 2),
            (vec![], width),
            "at {width} pixels"
        );
    }
    let dom = chromium(&path, &["--window-size=1440,1400".into(), "--dump-dom".into()]);
    assert_eq!(dom.matches("aria-pressed=\"true\"").count(), 1);
    assert!(dom.contains("<strong>Holds.</strong>") && dom.contains("of 100 nodes"));
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, width, height) in [("phone", 390, 3600), ("desk", 1440, 1800)] {
        picture(&path, &kept.join(format!("explore-{name}.png")), width, height);
    }
}
