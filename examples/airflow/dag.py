"""A release each night as a DAG of Airflow 3. Copy this folder into the folder of the DAGs, and set PEOPLE and PEOPLE_K5.

Airflow retries only if a store does not answer. A person has to review any other failure, and until then the release of the
previous night stays in its place. The DAG of examples/pipeline does the same with the command, for Delta tables.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, timedelta
from pathlib import Path

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException

import anonsql

sys.path.append(str(Path(__file__).parent))

from people import release  # noqa: E402


@dag(
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
)
def people_k5() -> None:
    @task
    def release_people() -> dict[str, int | str | None]:
        try:
            return release(os.environ["PEOPLE"], os.environ["PEOPLE_K5"])
        except anonsql.Unavailable:
            raise
        except anonsql.Error as error:
            raise AirflowFailException(str(error)) from error

    release_people()


people_k5()
