use super::Purpose;
use crate::base::catalogue::Call;
use crate::release::job::testing::{PEOPLE, batch, constraint, job, source, target};
use crate::release::job::{Choice, Job, Randomization, ReportFile};
use crate::{data::metric, method::partition};
use datafusion::prelude::SessionContext;

/// A change to the job, with the expected refusal.
type Case = (fn(&mut Job), &'static str);

/// Returns the refusal of a job after this change.
fn refused(purpose: Purpose, change: impl FnOnce(&mut Job)) -> String {
    let mut job = job();
    change(&mut job);
    job.check(purpose).err().map(|e| e.to_string()).unwrap_or_default()
}

fn divided(job: &mut Job) {
    let call = Call::bare("mondrian");
    job.goal.choice = Choice::partition(call.clone(), partition::build(&call).unwrap());
}

#[tokio::test]
async fn a_job_that_says_everything_once_is_accepted() {
    for purpose in [Purpose::Release, Purpose::Decide, Purpose::Explore] {
        assert_eq!(refused(purpose, |_| {}), "");
    }
}

#[tokio::test]
async fn every_column_has_one_role() {
    let cases: [Case; 5] = [
        (|job| job.roles.sensitive.clear(), "no role was given to illness"),
        (
            |job| job.roles.keep.push("zip".into()),
            "column \"zip\" has two roles, QUASI IDENTIFIERS and KEEP",
        ),
        (|job| job.roles.keep.push("zipp".into()), "zipp"),
        (|job| job.input.entity = Some("person".into()), "person"),
        (
            |job| job.roles.identifiers.push("age".into()),
            "column \"age\" has two roles",
        ),
    ];
    for (change, expected) in cases {
        let found = refused(Purpose::Release, change);
        assert!(found.contains(expected), "{found}");
    }
}

#[tokio::test]
async fn models_and_metrics_have_what_they_read() {
    let cases: [Case; 4] = [
        (
            |job| job.guarantees.constraints.clear(),
            "SATISFYING names no privacy model",
        ),
        (
            |job| job.guarantees.constraints.push(constraint("k_map", 2, None)),
            "name it with POPULATION",
        ),
        (
            |job| job.input.population = Some(source(batch(&PEOPLE))),
            "no model counts in it",
        ),
        (
            |job| {
                job.goal.metric = metric::build(&Call::bare("dm")).unwrap();
                job.roles.quasi_identifiers[0].weight = 2.0;
            },
            "WEIGHT has no effect",
        ),
    ];
    for (change, expected) in cases {
        let found = refused(Purpose::Release, change);
        assert!(found.contains(expected), "{found}");
    }
}

#[tokio::test]
async fn a_permutation_across_classes_breaks_a_promise_in_each() {
    let found = refused(Purpose::Release, |job| {
        job.roles.sensitive[0].randomization = Some(Randomization::Table);
    });
    assert!(found.contains("permute WITHIN CLASS"), "{found}");
}

#[tokio::test]
async fn statements_about_nodes_refuse_what_has_none() {
    assert!(refused(Purpose::Lattice, divided).contains("LATTICE OF lists nodes"));
    assert!(refused(Purpose::Explore, divided).contains("EXPLORE lists nodes"));
    assert!(refused(Purpose::Front, divided).contains("PARETO FRONT OF looks for nodes of the lattice"));
    assert!(refused(Purpose::Lattice, |_| {}).contains("leave AT NODE"));
    assert!(refused(Purpose::Front, |_| {}).contains("leave AT NODE"));
}

#[tokio::test]
async fn a_front_may_have_no_model() {
    let found = refused(Purpose::Front, |job| {
        job.guarantees.constraints.clear();
        let call = Call::bare("exhaustive");
        job.goal.choice = Choice::Search {
            search: crate::method::search::build(&call).unwrap(),
            call,
        };
    });
    assert_eq!(found, "");
}

#[tokio::test]
async fn a_target_that_cannot_be_written_is_refused_for_a_release_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let there = |job: &mut Job| job.output.target = Some(target(scratch.path()));
    // An empty folder is not a release.
    assert_eq!(refused(Purpose::Release, there), "");
    std::fs::write(scratch.path().join("notes"), "mine").unwrap();
    assert!(refused(Purpose::Release, there).contains("exists; add OVERWRITE"));
    assert_eq!(refused(Purpose::Decide, there), "");
    let by = |column: &str| {
        let mut target = target(&scratch.path().join("new"));
        target.partitioned_by = vec![column.into()];
        move |job: &mut Job| job.output.target = Some(target)
    };
    assert_eq!(refused(Purpose::Release, by("zip")), "");
    assert!(refused(Purpose::Release, by("name")).contains("released column to partition by"));
}

#[tokio::test]
async fn a_report_is_neither_data_nor_lost() {
    let scratch = tempfile::tempdir().unwrap();
    let report = |name: &str| {
        let (file, folder) = (scratch.path().join(name), scratch.path().join("out"));
        let report = ReportFile::new(&file.display().to_string(), &SessionContext::new().state()).unwrap();
        move |job: &mut Job| {
            job.output.target = Some(target(&folder));
            job.output.report = Some(report);
        }
    };
    assert_eq!(refused(Purpose::Release, report("report.html")), "");
    assert_eq!(refused(Purpose::Release, report("out/_report.html")), "");
    assert!(refused(Purpose::Release, report("out/report.html")).contains("call it _report.html"));
    assert!(refused(Purpose::Release, report("nowhere/report.html")).contains("its folder does not exist"));
}
