-- Hierarchies: every way to make one, how to look at it, how to check it against the data. Run from the root:
--
--     cargo run --release -- -f sql/hierarchies.sql
--
-- Level 0 of a hierarchy is the value itself, each further level is a coarser one, and the top is a single '*'. Values
-- that share a group on one level share it on all levels above: groups nest, or the hierarchy is refused.

CREATE EXTERNAL TABLE IF NOT EXISTS census STORED AS PARQUET LOCATION 'data/census.parquet';
CREATE EXTERNAL TABLE IF NOT EXISTS patients STORED AS PARQUET LOCATION 'data/patients.parquet';

-- From a file: one line per value, ';' between the levels, no header. Files made for ARX or anjana work as they are.
CREATE OR REPLACE HIERARCHY education FROM 'data/hierarchies/education.csv' OPTIONS (delimiter ';', has_header false);

-- Codes with a structure of their own: diagnosis, block, chapter. A visit not coded yet (NULL) goes to the top at once.
CREATE OR REPLACE HIERARCHY diagnosis FROM 'data/hierarchies/diagnosis.csv' NULLS AS TOP;

-- Numbers, in spans: [15, 20), then [10, 20), then [0, 20). Below 20 and from 90 on there are few people, so they
-- make one group each.
CREATE OR REPLACE HIERARCHY age AS INTERVALS (5, 10, 20) ORIGIN 0 BOTTOM CODE 20 TOP CODE 90;

-- Numbers, in groups of about as many rows each: 16 of them, then 4. The bounds are computed once, from this column.
CREATE OR REPLACE HIERARCHY income AS QUANTILES (16, 4) OF census.income;

-- Strings, by how many characters stay: 12345 becomes 1234, 123, 12; with MASK 1234*, 123**, 12***.
CREATE OR REPLACE HIERARCHY zip AS PREFIX (4, 3, 2) MASK '*';

-- Dates and timestamps.
CREATE OR REPLACE HIERARCHY day AS TRUNCATE (MONTH, QUARTER, YEAR);

-- A few values, written out. Each list is a value and its groups.
CREATE OR REPLACE HIERARCHY insurer AS VALUES
  ('public fund', 'public'), ('workers fund', 'public'), ('student plan', 'public'),
  ('private', 'not public'), ('none', 'not public')
  ON UNMAPPED TOP;

-- Whatever SQL can say: column 1 is the value, each further column a level.
CREATE OR REPLACE HIERARCHY workclass AS (
    SELECT DISTINCT workclass, CASE WHEN workclass LIKE '%government' THEN 'public' ELSE 'not public' END
    FROM census
    WHERE workclass IS NOT NULL)
  NULLS AS TOP;

-- All or nothing: the value or '*'. It is also what a quasi-identifier without USING gets.
CREATE OR REPLACE HIERARCHY race AS SUPPRESSION;

-- What is there?
SHOW HIERARCHIES;
DESCRIBE HIERARCHY education;

-- Does it fit? One row: how many values and rows are mapped, unmapped, null.
CHECK HIERARCHY education FOR census.education;
CHECK HIERARCHY diagnosis FOR patients.diagnosis;
CHECK HIERARCHY workclass FOR census.workclass;
CHECK HIERARCHY zip FOR patients.zip;

DROP HIERARCHY race;
DROP HIERARCHY IF EXISTS race;
