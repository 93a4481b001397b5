"""The same night as a DAG of Airflow 3: copy this folder beside it, and set the variables of the environment.

A night that another run released is skipped. A request that cannot be met, and a failed check, are not tried again, because
somebody has to look. Everything else is: a run that was killed leaves the table as it was.
"""

from datetime import datetime, timedelta
from pathlib import Path

from airflow.providers.standard.hooks.subprocess import SubprocessHook
from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

NIGHTLY = Path(__file__).parent / "nightly.sh"
DONE, NO_RELEASE, FAILED_CHECK, ANOTHER_WAS_FIRST = 0, 3, 4, 5


@dag(
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
)
def release_people():
    @task
    def release():
        code = SubprocessHook().run_command(["bash", str(NIGHTLY)]).exit_code
        if code == ANOTHER_WAS_FIRST:
            raise AirflowSkipException("another run released tonight's people")
        if code in (NO_RELEASE, FAILED_CHECK):
            raise AirflowFailException(f"nightly.sh ended with {code}: see its log")
        if code != DONE:
            raise RuntimeError(f"nightly.sh ended with {code}: see its log")

    release()


release_people()
