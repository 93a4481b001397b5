{#- A model that is a view of a release by anonsql. Before the release, its rows are in a temporary table. -#}
{% materialization release, adapter="duckdb", supported_languages=["sql", "python"] %}
  {%- set location = render(config.require('location')) -%}
  {%- set target = this.incorporate(type='view') -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set private = make_temp_relation(this.incorporate(type='table')) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% call statement('private', language=model['language']) -%}
    {{- create_table_as(True, private, compiled_code, model['language']) }}
  {%- endcall %}
  {#- If no release satisfies the request, this step fails, and the release of the last run stays. -#}
  {% do adapter.store_relation(config.get('plugin', 'anonsql'), private, adapter.get_columns_in_relation(private), location, 'parquet', config) %}
  {% call statement('drop') -%}
    drop table {{ private }}
  {%- endcall %}

  {% if existing is not none and existing.type != 'view' %}
    {{ drop_relation_if_exists(existing) }}
  {% endif %}
  {% call statement('main') -%}
    create or replace view {{ target }} as select * from read_parquet('{{ location | replace("'", "''") }}/*.parquet')
  {%- endcall %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do persist_docs(target, model) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}
