-- Looking around before deciding: every way to generalize, with what it costs. Run from the root of the repository:
--
--     cargo run --release -- -f sql/explore.sql
--
-- A way to generalize is a node of a lattice: one level for each quasi-identifier. LATTICE OF answers one row per node
-- with its k, the rows it would suppress, its equivalence classes and the metrics. Nothing is written.

CREATE EXTERNAL TABLE IF NOT EXISTS census STORED AS PARQUET LOCATION 'data/census.parquet';

CREATE OR REPLACE HIERARCHY age AS INTERVALS (5, 10, 20) TOP CODE 90;
CREATE OR REPLACE HIERARCHY zip AS PREFIX (4, 3, 2);
CREATE OR REPLACE HIERARCHY education FROM 'data/hierarchies/education.csv';
CREATE OR REPLACE HIERARCHY marital_status FROM 'data/hierarchies/marital_status.csv';

-- 5 levels of age, 2 of sex, 5 of zip, 3 of marital status are 150 nodes. LEVELS narrows them down to 27: spans of 5 to
-- 20 years, sex as it is, zip codes of 4 to 2 characters. The source is a query with only the columns of interest,
-- because every column of a source must have a role.
LATTICE OF ANONYMIZE (SELECT age, sex, zip, marital_status, income FROM census)
  QUASI IDENTIFIERS (
    age USING age LEVELS 1 TO 3,
    sex LEVELS 0 TO 0,
    zip USING zip LEVELS 1 TO 3,
    marital_status USING marital_status)
  SENSITIVE (income)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 1 PERCENT
  MINIMIZING glm;

-- The searches give the same best node, if they are optimal, and take different ways. exhaustive looks at every node;
-- flash skips those that a node below or above already decided; datafly is greedy: quick, and not always the best.
EXPLAIN ANALYZE ANONYMIZE (SELECT age, sex, zip, education, marital_status, income FROM census)
  QUASI IDENTIFIERS (
    age USING age, sex, zip USING zip, education USING education, marital_status USING marital_status)
  SENSITIVE (income)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 1 PERCENT
  MINIMIZING glm
  SEARCH USING flash;

EXPLAIN ANALYZE ANONYMIZE (SELECT age, sex, zip, education, marital_status, income FROM census)
  QUASI IDENTIFIERS (
    age USING age, sex, zip USING zip, education USING education, marital_status USING marital_status)
  SENSITIVE (income)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 1 PERCENT
  MINIMIZING glm
  SEARCH USING datafly;
