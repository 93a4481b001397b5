//! A dialect for DataFusion's parser that limits the work of the parser.
//!
//! The parser first parses a word like CAST as a keyword and, if this fails, parses it again as the
//! name of a function. The argument of the word is then parsed twice, and a similar word within
//! this argument four times. [`Bounded`] counts the expressions that the parser begins, and rejects
//! the statement when their number far exceeds the number of words in the statement.

use crate::base::error::{Error, Result};
use datafusion::sql::sqlparser::ast::Expr;
use datafusion::sql::sqlparser::dialect::{Dialect, GenericDialect};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::any::{Any, TypeId};
use std::cell::Cell;

/// The number of expressions that the parser may begin in any statement, in addition to
/// [`PER_WORD`] expressions for each word. This limits parsing to a fraction of a second, but
/// allows about a dozen nested words like CAST.
const FREE: usize = 20_000;
/// The number of expressions that the parser may begin for each word of the statement.
const PER_WORD: usize = 16;

/// [`GenericDialect`] with a limit on the work for one statement.
#[derive(Debug)]
pub(super) struct Bounded {
    /// The number of expressions that the parser may still begin.
    left: Cell<usize>,
}

impl Bounded {
    /// Creates the dialect for a statement that has `words` words.
    pub(super) fn new(words: usize) -> Self {
        Self {
            left: Cell::new(words.saturating_mul(PER_WORD).saturating_add(FREE)),
        }
    }

    /// Fails with a usage error if the limit stopped the parser, whatever error the parser itself
    /// returned.
    pub(super) fn check(&self) -> Result<()> {
        if self.left.get() > 0 {
            return Ok(());
        }
        Err(Error::usage(
            "this statement can be read in too many ways: words like CAST, EXTRACT or NOT are nested before brackets, \
             and one of them is not closed or not correct; correct it, or nest fewer, with a query in FROM for the \
             inner part",
        ))
    }
}

/// Forwards the named methods to [`GenericDialect`]. They must be listed, because a method that is
/// not listed has its default implementation, which may differ from the generic dialect.
macro_rules! as_generic {
    ($($answer:ident)*) => { $(fn $answer(&self) -> bool { GenericDialect.$answer() })* };
}

impl Dialect for Bounded {
    fn dialect(&self) -> TypeId {
        GenericDialect.type_id()
    }

    fn parse_prefix(&self, _: &mut Parser) -> Option<std::result::Result<Expr, ParserError>> {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        // After this error, unlike after others, the parser tries hardly any alternatives.
        (left == 0).then_some(Err(ParserError::RecursionLimitExceeded))
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        GenericDialect.is_delimited_identifier_start(c)
    }

    fn is_identifier_start(&self, c: char) -> bool {
        GenericDialect.is_identifier_start(c)
    }

    fn is_identifier_part(&self, c: char) -> bool {
        GenericDialect.is_identifier_part(c)
    }

    as_generic! {
        allow_extract_custom allow_extract_single_quotes support_map_literal_syntax supports_array_join_syntax
        supports_array_typedef_with_brackets supports_asc_desc_in_column_definition supports_bitwise_shift_operators
        supports_comma_separated_set_assignments supports_comma_separated_trim supports_comment_on
        supports_comment_optimizer_hint supports_connect_by supports_constraint_keyword_without_name
        supports_create_index_with_clause supports_create_view_comment_syntax supports_cte_without_as
        supports_data_type_signed_suffix supports_detach supports_dictionary_syntax supports_empty_projections
        supports_explain_with_utility_options supports_extract_comma_syntax supports_filter_during_aggregation
        supports_from_first_select supports_group_by_expr supports_group_by_with_modifier supports_install
        supports_interpolate supports_interval_options supports_key_column_option
        supports_left_associative_joins_without_parens supports_limit_by supports_limit_comma
        supports_load_extension supports_match_against supports_match_recognize supports_multiline_comment_hints
        supports_named_fn_args_with_assignment_operator supports_nested_comments supports_optimize_table
        supports_parens_around_table_factor supports_parenthesized_set_variables
        supports_partition_by_after_order_by supports_pipe_operator supports_prewhere
        supports_projection_trailing_commas supports_quote_delimited_string supports_select_format
        supports_select_item_multi_column_alias supports_select_wildcard_except supports_select_wildcard_exclude
        supports_select_wildcard_ilike supports_select_wildcard_rename supports_select_wildcard_replace
        supports_set_names supports_settings supports_start_transaction_modifier supports_string_escape_constant
        supports_struct_literal supports_try_convert supports_unicode_string_literal supports_update_order_by
        supports_user_host_grantee supports_values_as_table_factor supports_window_clause_named_window_reference
        supports_window_function_null_treatment_arg supports_with_fill supports_xml_expressions
    }
}
