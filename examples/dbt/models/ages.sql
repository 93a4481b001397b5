-- A model of what was released, as of any table.
select age, count(*) as people from {{ ref('people_k5') }} group by age
