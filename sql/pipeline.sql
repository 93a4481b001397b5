-- In a pipeline: ANONYMIZE without TO answers rows, so it stands wherever a query can. Run from the root:
--
--     cargo run --release -- -f sql/pipeline.sql

CREATE OR REPLACE HIERARCHY age AS INTERVALS (5, 10, 20) TOP CODE 90;
CREATE OR REPLACE HIERARCHY zip AS PREFIX (4, 3, 2);
CREATE OR REPLACE HIERARCHY education FROM 'data/hierarchies/education.csv';

CREATE EXTERNAL TABLE IF NOT EXISTS census STORED AS PARQUET LOCATION 'data/census.parquet';

-- 1. Into a table of this session. The source is a query, so joins, filters and computed columns come before.
CREATE TABLE workers_k10 AS
  ANONYMIZE (
    SELECT age, sex, zip, education, occupation, income
    FROM census
    WHERE age BETWEEN 18 AND 67 AND occupation IS NOT NULL)
  QUASI IDENTIFIERS (age USING age, sex, zip USING zip, education USING education)
  SENSITIVE (occupation, income)
  SATISFYING k_anonymity(10)
  SUPPRESSING AT MOST 2 PERCENT
  MINIMIZING glm;

-- The table is one like any other: it can be checked, queried, joined.
VERIFY workers_k10
  QUASI IDENTIFIERS (age, sex, zip, education)
  SATISFYING k_anonymity(10);

SELECT occupation, count(*) AS people, round(avg(income), 2) AS mean_income
FROM workers_k10
GROUP BY occupation
ORDER BY mean_income DESC
LIMIT 5;

-- 2. Straight into a file, with COPY and its formats. Here nobody is left out (0 rows), and the search looks for the
-- least height: the fewest steps up the hierarchies.
COPY (
  ANONYMIZE (SELECT age, sex, zip, education, salary_class FROM census)
  QUASI IDENTIFIERS (age USING age, sex, zip USING zip, education USING education)
  SENSITIVE (salary_class)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 0 ROWS
  MINIMIZING height
) TO 'out/salaries_k5.csv' STORED AS CSV OPTIONS ('format.has_header' 'true');

-- 3. The same levels again tomorrow: AT NODE searches nothing, it applies the levels and checks what comes out.
-- STARRED keeps the suppressed rows, with '*' in every quasi-identifier and no sensitive value, so that totals stay.
ANONYMIZE (SELECT age, sex, zip, education, salary_class FROM census)
  TO 'out/salaries_daily/' OVERWRITE
  QUASI IDENTIFIERS (age USING age, sex, zip USING zip, education USING education)
  SENSITIVE (salary_class)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 5 PERCENT
  SUPPRESSED ROWS STARRED
  AT NODE (age 2, sex 0, zip 3, education 2);
