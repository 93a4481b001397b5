-- A model that reads the release like any other table.
select age, count(*) as people from {{ ref('people_k5') }} group by age
