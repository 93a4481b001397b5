-- Several rows a person: a table of hospital visits. Run from the root of the repository:
--
--     cargo run --release -- -f sql/patients.sql
--
-- Someone who came five times makes a group of five rows all alone, and k-anonymity over rows would be content. What
-- has to be many is people, not visits: ENTITY (patient_id) makes every count one of distinct patients.

CREATE EXTERNAL TABLE IF NOT EXISTS patients STORED AS PARQUET LOCATION 'data/patients.parquet';

SELECT count(*) AS visits, count(DISTINCT patient_id) AS patients FROM patients;

CREATE OR REPLACE HIERARCHY birth_year AS INTERVALS (5, 10, 20) BOTTOM CODE 1940;
CREATE OR REPLACE HIERARCHY zip AS PREFIX (4, 3, 2);
CREATE OR REPLACE HIERARCHY sex FROM 'data/hierarchies/sex.csv';
CREATE OR REPLACE HIERARCHY day AS TRUNCATE (MONTH, QUARTER, YEAR);

CHECK HIERARCHY birth_year FOR patients.birth_year;

-- The time of a visit is never released to the day: LEVELS 1 TO 4 leaves out level 0, the time itself, and begins with
-- the month (1), then quarter (2), year (3) and '*' (4). The year of birth matters most for research, so its loss
-- weighs double. The visits are written to one folder per ward. The report counts patients too: how many were alone before
-- and after, and what a class tells of a diagnosis that no model constrains.
-- Ward and insurer are kept, and no model counts them: whoever knows both of a patient may find that patient alone. Without
-- the line ACCEPTING WARNINGS ON, a warning says of how many. Here only the hospital is taken to know them.
ANONYMIZE 'data/patients.parquet'
  TO 'out/patients_k5/' PARTITIONED BY (ward) OVERWRITE
  IDENTIFIERS (name, patient_id)
  QUASI IDENTIFIERS (
    birth_year USING birth_year WEIGHT 2,
    sex USING sex,
    zip USING zip,
    visited_at USING day LEVELS 1 TO 4)
  SENSITIVE (diagnosis, cost)
  KEEP (ward, insurer)
  ENTITY (patient_id)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 2 PERCENT
  MINIMIZING glm
  ACCEPTING WARNINGS ON (ward, insurer)
  REPORT TO 'out/patients_k5.md';

-- patient_id is gone from the release, so what can be counted there is visits; patients were counted before it went.
VERIFY 'out/patients_k5/'
  QUASI IDENTIFIERS (birth_year, sex, zip, visited_at)
  SATISFYING k_anonymity(5);

SELECT ward, count(*) AS visits, round(avg(cost), 2) AS mean_cost FROM 'out/patients_k5/' GROUP BY ward ORDER BY visits DESC;
