{#- Each row that a test returns is a class that fails. It has only counts, because dbt may store failures. -#}

{#- Every combination of the quasi-identifiers has at least k rows, or k people if entity names a column. -#}
{% test k_anonymity(model, quasi, k, entity=none) %}
{%- set columns = anonsql.columns(quasi) %}
select people
from (
    select {{ anonsql.people(entity) }} as people
    from {{ model }}
    group by {{ columns }}
) as classes
where people < {{ k | int }}
{% endtest %}

{#- Every class has at least l different values of a sensitive column; NULL is a value. -#}
{% test l_diversity(model, quasi, sensitive, l) %}
{%- set columns = anonsql.columns(quasi) %}
{%- set value = adapter.quote(sensitive) %}
select people, diversity
from (
    select
        count(*) as people,
        count(distinct {{ value }}) + max(case when {{ value }} is null then 1 else 0 end) as diversity
    from {{ model }}
    group by {{ columns }}
) as classes
where diversity < {{ l | int }}
{% endtest %}

{% macro columns(quasi) -%}
  {%- if quasi is string or not quasi -%}
    {{ exceptions.raise_compiler_error("quasi is a list of columns; write quasi: [age, sex]") }}
  {%- endif -%}
  {%- for column in quasi %}{{ adapter.quote(column) }}{% if not loop.last %}, {% endif %}{% endfor -%}
{%- endmacro %}

{% macro people(entity) -%}
  {%- if entity is none -%} count(*)
  {%- else -%} count(distinct {{ adapter.quote(entity) }}) + max(case when {{ adapter.quote(entity) }} is null then 1 else 0 end)
  {%- endif -%}
{%- endmacro %}
