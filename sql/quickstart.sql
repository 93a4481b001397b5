-- Quickstart: from a table of people to k-anonymous Parquet, with proof. Run from the root of the repository:
--
--     cargo run -- -f sql/quickstart.sql
--
-- data/census.parquet holds 30,000 invented people. name and ssn say who someone is; age, sex, zip and the like are
-- quasi-identifiers: harmless alone, but together they single people out. The result, in out/census_k5/, has no group
-- of people with the same quasi-identifiers that is smaller than 5.

-- 1. What is in the table? Everything of DataFusion's SQL works as it always does.
CREATE EXTERNAL TABLE IF NOT EXISTS census STORED AS PARQUET LOCATION 'data/census.parquet';

SELECT age, sex, zip, education, occupation, income FROM census ORDER BY ssn LIMIT 5;

-- How many people are alone with their age, sex and zip code? They could be found by anyone who knows these three.
SELECT count(*) AS people_alone
FROM (SELECT age, sex, zip FROM census GROUP BY age, sex, zip HAVING count(*) = 1);

-- 2. Hierarchies say how a value may be made less precise, level by level. The top level, '*', is added where missing.
-- Numbers: 37 becomes a span of 5 years, then of 10, then of 20. Each width is a multiple of the one before.
CREATE OR REPLACE HIERARCHY age AS INTERVALS (5, 10, 20) TOP CODE 90;

-- Strings: of a zip code the first 4 characters stay, then 3, then 2.
CREATE OR REPLACE HIERARCHY zip AS PREFIX (4, 3, 2) MASK '*';

-- Categories: from a file (the format of ARX and anjana), one line per value: value;group;larger group;*
CREATE OR REPLACE HIERARCHY education FROM 'data/hierarchies/education.csv' OPTIONS (delimiter ';', has_header false);
CREATE OR REPLACE HIERARCHY marital_status FROM 'data/hierarchies/marital_status.csv';
CREATE OR REPLACE HIERARCHY native_country FROM 'data/hierarchies/native_country.csv';

-- Few values: written right here.
CREATE OR REPLACE HIERARCHY sex AS VALUES ('female', 'any'), ('male', 'any');

-- 3. Does a hierarchy know every value of its column? Better asked now than found out in the middle of a run.
CHECK HIERARCHY education FOR census.education;
CHECK HIERARCHY native_country FOR census.native_country;

-- 4. Two ways to generalize, side by side. auto gives every row the same level of each column; mondrian divides the
--    people into groups, and generalizes each group no more than it needs. glm is the loss: 0 is nothing, 1 is everything.
COMPARE ANONYMIZE 'data/census.parquet'
  IDENTIFIERS (name, ssn, birth_date)
  QUASI IDENTIFIERS (
    age USING age,
    sex USING sex,
    zip USING zip,
    education USING education,
    marital_status USING marital_status,
    native_country USING native_country,
    race)
  SENSITIVE (workclass, occupation, salary_class, income)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 1 PERCENT
  SEARCH USING (auto, mondrian);

-- 5. Do it. Every column has a role; one that is in no list would be an error, so nothing leaks by being forgotten.
--    identifiers        are left out (birth_date too: age says what is needed of it)
--    quasi identifiers  are generalized, as little as it takes; race has no hierarchy: it is kept or '*'
--    sensitive          is what the data is for: kept as it is
--    at most 1 percent of the rows may be left out, rather than generalizing everyone for the sake of a few
--    the report         is a page to open in a browser: what was released, which risk it had and has, what was lost
ANONYMIZE 'data/census.parquet'
  TO 'out/census_k5/' OVERWRITE
  IDENTIFIERS (name, ssn, birth_date)
  QUASI IDENTIFIERS (
    age USING age,
    sex USING sex,
    zip USING zip,
    education USING education,
    marital_status USING marital_status,
    native_country USING native_country,
    race)
  SENSITIVE (workclass, occupation, salary_class, income)
  SATISFYING k_anonymity(5)
  SUPPRESSING AT MOST 1 PERCENT
  SEARCH USING mondrian
  REPORT TO 'out/census_k5.html';

-- 6. Do not take its word for it: count the groups in what was written. One row per check: required, reached, ok.
VERIFY 'out/census_k5/'
  QUASI IDENTIFIERS (age, sex, zip, education, marital_status, native_country, race)
  SATISFYING k_anonymity(5);

-- 7. Use it. The release is plain Parquet, for any tool, and what people study is still in it.
CREATE EXTERNAL TABLE IF NOT EXISTS census_k5 STORED AS PARQUET LOCATION 'out/census_k5/';

SELECT age, sex, zip, education, race, occupation, income FROM census_k5 LIMIT 5;

SELECT education, count(*) AS people, round(avg(income), 2) AS mean_income
FROM census_k5
GROUP BY education
ORDER BY people DESC
LIMIT 8;
