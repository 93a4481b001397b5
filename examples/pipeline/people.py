"""Writes the people of a night as another system would: python3 people.py TABLE NIGHT [COLUMN]

COLUMN is a column that nobody expects. Needs `pip install deltalake pyarrow`, and runs in the project's folder.
"""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

table, night, more = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
census = pq.read_table("data/census.parquet", columns=["name", "age", "zip", "sex", "income"])
people = census.slice(100 * night, 20_000)
for column in more:
    people = people.append_column(column, pa.array(range(people.num_rows), pa.int64()))
write_deltalake(table, people, mode="overwrite", schema_mode="overwrite")
