//! Parses numbers with a decimal point as decimals where a query compares them with decimals.
//!
//! DataFusion parses `1234567.89` as a double. To compare a decimal with this double, it converts
//! the two operands with different precision, so `amount = 1234567.89` finds no row. With
//! DataFusion's setting `parse_float_as_decimal`, all such numbers become decimals, in arithmetic
//! too: `1 / 3.0` is then 0.3333, the average of decimals has five digits, doubles are compared
//! after the 15th digit, and `1e-100` causes an error. Here, a number becomes a decimal with all of
//! its digits only if it is compared with a decimal or a whole number. Everywhere else, it remains
//! a double.
//!
//! The types are known only after planning, and the digits only before it. A compared number is
//! therefore marked before planning, as `CAST('1234567.89' AS DECIMAL(9, 2))`, and replaced after
//! planning by a literal of its final type. Numbers with an exponent are approximate, as in the SQL
//! standard, and remain doubles.

use crate::language::sql::visit::{StatementPartMut, visit_mut};
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::{Between, Case, Cast, InList};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, CreateView, DdlStatement, Expr, ExprSchemable, LogicalPlan, Operator, lit};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;

/// The maximum number of digits of a number that is compared as a decimal.
const MOST_DIGITS: usize = 38;

/// Plans a statement so that all digits count when its numbers are compared with decimals.
pub(super) async fn planned(state: &SessionState, mut statement: Statement) -> Result<LogicalPlan> {
    let is_view = matches!(&statement, Statement::Statement(s) if matches!(**s, ast::Statement::CreateView(_)));
    let definition = is_view.then(|| statement.to_string());
    mark(&mut statement);
    let plan = typed(state.statement_to_plan(statement).await?)?;
    Ok(match plan {
        LogicalPlan::Ddl(DdlStatement::CreateView(view)) => {
            LogicalPlan::Ddl(DdlStatement::CreateView(CreateView { definition, ..view }))
        }
        other => other,
    })
}

/// A number with a decimal point, or a whole number that does not fit into 64 bits.
struct Number {
    /// The digits of the number, without the decimal point.
    digits: i128,
    precision: u8,
    scale: i8,
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        let plain = digits.strip_prefix('-').unwrap_or(&digits);
        let is_number = !plain.is_empty() && plain.bytes().all(|digit| digit.is_ascii_digit());
        let is_integer = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
        let precision = plain.trim_start_matches('0').len().max(fraction.len()).max(1);
        (is_number && !is_integer && precision <= MOST_DIGITS).then_some(())?;
        Some(Self {
            digits: digits.parse().ok()?,
            precision: u8::try_from(precision).ok()?,
            scale: i8::try_from(fraction.len()).ok()?,
        })
    }
}

/// Marks the numbers that a statement compares with other values.
fn mark(statement: &mut Statement) {
    visit_mut(statement, &mut |part| {
        if let StatementPartMut::Expr(expr) = part {
            for operand in operands_of_ast(expr) {
                mark_one(operand);
            }
        }
    });
}

/// Returns the operands that an expression compares with each other; empty if it is not a
/// comparison.
fn operands_of_ast(expr: &mut ast::Expr) -> Vec<&mut ast::Expr> {
    use ast::BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq, Spaceship};
    match expr {
        ast::Expr::BinaryOp {
            left,
            op: Eq | NotEq | Lt | LtEq | Gt | GtEq | Spaceship,
            right,
        } => vec![left.as_mut(), right.as_mut()],
        ast::Expr::IsDistinctFrom(left, right) | ast::Expr::IsNotDistinctFrom(left, right) => {
            vec![left.as_mut(), right.as_mut()]
        }
        ast::Expr::Between { expr, low, high, .. } => vec![expr.as_mut(), low.as_mut(), high.as_mut()],
        ast::Expr::InList { expr, list, .. } => std::iter::once(expr.as_mut()).chain(list).collect(),
        ast::Expr::Case {
            operand: Some(operand),
            conditions,
            ..
        } => {
            let conditions = conditions.iter_mut().map(|when| &mut when.condition);
            std::iter::once(operand.as_mut()).chain(conditions).collect()
        }
        _ => vec![],
    }
}

fn mark_one(operand: &mut ast::Expr) {
    let Some(text) = text_of(operand) else { return };
    let Some(number) = Number::of(&text) else { return };
    let text = ast::Value::SingleQuotedString(text).into();
    let info = ast::ExactNumberInfo::PrecisionAndScale(u64::from(number.precision), i64::from(number.scale));
    *operand = ast::Expr::Cast {
        kind: ast::CastKind::Cast,
        expr: Box::new(ast::Expr::Value(text)),
        data_type: ast::DataType::Decimal(info),
        array: false,
        format: None,
    };
}

/// Returns the text of a number in the statement, with its sign; `None` if the operand is not a
/// number.
fn text_of(operand: &ast::Expr) -> Option<String> {
    match operand {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => Some(text.clone()),
            _ => None,
        },
        ast::Expr::Nested(inner) => text_of(inner),
        ast::Expr::UnaryOp {
            op: ast::UnaryOperator::Minus,
            expr,
        } => {
            let text = text_of(expr)?;
            Some(text.strip_prefix('-').map_or_else(|| format!("-{text}"), String::from))
        }
        ast::Expr::UnaryOp {
            op: ast::UnaryOperator::Plus,
            expr,
        } => text_of(expr),
        _ => None,
    }
}

/// Returns the plan in which each marked number is replaced by a literal of the type in which it is
/// compared.
fn typed(plan: LogicalPlan) -> Result<LogicalPlan> {
    let typed = plan.transform_down_with_subqueries(|plan| {
        let schema = merge_schema(&plan.inputs());
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let typed = expr.transform_up(|expr| typed_in(expr, &schema))?;
            Ok(typed.update_data(|expr| name.restore(expr)))
        })
    })?;
    Ok(typed.data)
}

fn typed_in(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut operands = operands(&mut expr);
    if !operands.iter().any(|operand| marked(operand).is_some()) {
        return Ok(Transformed::no(expr));
    }
    let (mut is_exact, mut is_float) = (false, false);
    for other in operands.iter().filter(|operand| marked(operand).is_none()) {
        // A parameter such as `$1` has no type yet.
        let Ok(data_type) = other.get_type(schema) else {
            continue;
        };
        let data_type = match &data_type {
            DataType::Dictionary(_, values) => values.as_ref(),
            DataType::RunEndEncoded(_, values) => values.data_type(),
            plain => plain,
        };
        is_float |= data_type.is_floating();
        is_exact |= data_type.is_decimal() || data_type.is_integer();
    }
    for operand in &mut operands {
        let Some((text, number)) = marked(operand) else {
            continue;
        };
        let literal = match (is_exact && !is_float, text.parse::<f64>()) {
            (false, Ok(float)) => lit(float),
            _ => lit(ScalarValue::Decimal128(
                Some(number.digits),
                number.precision,
                number.scale,
            )),
        };
        **operand = literal;
    }
    Ok(Transformed::yes(expr))
}

/// Returns the operands that an expression compares with each other; empty if it is not a
/// comparison.
fn operands(expr: &mut Expr) -> Vec<&mut Expr> {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    match expr {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom,
            right,
        }) => vec![left.as_mut(), right.as_mut()],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr.as_mut(), low.as_mut(), high.as_mut()],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(expr.as_mut()).chain(list).collect(),
        Expr::Case(Case {
            expr: Some(expr),
            when_then_expr,
            ..
        }) => {
            let whens = when_then_expr.iter_mut().map(|(when, _)| when.as_mut());
            std::iter::once(expr.as_mut()).chain(whens).collect()
        }
        _ => vec![],
    }
}

/// Returns the text and the value of a number that `mark` has marked; `None` for any other
/// expression.
fn marked(expr: &Expr) -> Option<(&str, Number)> {
    let Expr::Cast(Cast { expr, field }) = expr else {
        return None;
    };
    let Expr::Literal(ScalarValue::Utf8(Some(text)), _) = expr.as_ref() else {
        return None;
    };
    let number = Number::of(text)?;
    let own = DataType::Decimal128(number.precision, number.scale);
    (*field.data_type() == own).then_some((text.as_str(), number))
}
