"""Writes the small files of this folder again: pip install pyspark==3.5.6 pyarrow, Java 17, python3 make.py FOLDER.

Spark writes times as INT96 by default. The columns are a number, a time and a list of times.
"""

import glob
import os
import shutil
import sys
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

here = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def one_file(frame, name):
    folder = os.path.join(here, name + ".folder")
    frame.coalesce(1).write.mode("overwrite").parquet(folder)
    (part,) = glob.glob(os.path.join(folder, "part-*.parquet"))
    shutil.move(part, os.path.join(here, name))
    shutil.rmtree(folder)


def spark(**settings):
    builder = SparkSession.builder.master("local[1]").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
    for key, value in settings.items():
        builder = builder.config("spark.sql.parquet." + key, value)
    return builder.getOrCreate()


TIMES = ["9999-12-31 23:59:59.999999", "2262-04-12 00:00:00", "2020-01-31 10:20:30.123456", "1970-01-01 00:00:00",
         "1969-12-31 23:59:59.999999", "1900-01-01 00:00:00", "1582-10-15 00:00:00", "0001-01-01 00:00:00"]
QUERY = "SELECT id, at, array(at) AS ats, named_struct('at', at) AS s FROM VALUES {} AS t(id, at)"


def rows(times):
    values = ", ".join(f"({i}, TIMESTAMP '{time}')" for i, time in enumerate(times) for _ in range(2))
    return QUERY.format(values + ", (100, NULL), (100, NULL)")


session = spark(int96RebaseModeInWrite="CORRECTED")
one_file(session.sql(rows(TIMES)), "spark.parquet")
session.stop()
session = spark(int96RebaseModeInWrite="LEGACY")
one_file(session.sql(rows(["1582-10-04 00:00:00", "2020-01-31 10:20:30"])), "spark_old_calendar.parquet")
session.stop()

# Dates, and times of 64 bits.
session = spark(datetimeRebaseModeInWrite="LEGACY", outputTimestampType="TIMESTAMP_MICROS")
one_file(session.sql("SELECT id, CAST(at AS DATE) AS day, at, CAST(at AS TIMESTAMP_NTZ) AS plain FROM VALUES "
                     "(1, TIMESTAMP '1582-10-04 00:00:00'), (1, TIMESTAMP '2020-01-31 10:20:30') AS t(id, at)"),
         "spark_old_dates.parquet")
session.stop()

# Spark has no nanoseconds; Arrow's writer has.
nanoseconds = pa.table({"at": pa.array([1, 1, 1_000_000_001, 1_000_000_001], pa.timestamp("ns"))})
pq.write_table(nanoseconds, os.path.join(here, "nanoseconds.parquet"), use_deprecated_int96_timestamps=True,
               store_schema=False)
