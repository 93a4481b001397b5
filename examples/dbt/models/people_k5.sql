-- A release of the people that may be shared. The rows that this SELECT reads stay private.
{{ config(
    materialized='release',
    location=env_var('OUT', 'out') ~ '/people_k5',
    anonymize='
        IDENTIFIERS (name)
        QUASI IDENTIFIERS (age USING age, zip USING zip, sex)
        SENSITIVE (occupation)
        SATISFYING k_anonymity(5) AND l_diversity(3) ON occupation
        SUPPRESSING AT MOST 1 PERCENT
        SEARCH USING mondrian
    '
) }}
select name, age, zip, sex, occupation
from read_parquet('{{ env_var("DATA", "../../data") }}/census.parquet')
