//! Adds the window frames that a statement leaves out.
//!
//! In SQL, a window with ORDER BY and without a frame ends at the last row that is equal to the
//! current row in the ORDER BY columns. DataFusion lets such a window end at the current row if the
//! ORDER BY column is declared as a key, but the declaration may be wrong (see
//! [`crate::data::source::forget_claims`]). Therefore, the frame is added before the statement is
//! planned.

use super::visit::{StatementPartMut, visit_mut};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, NamedWindowExpr, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

/// Adds the frame that SQL defines to each window of a statement that has an order but no frame.
pub(crate) fn state_frames(statement: &mut DfStatement) {
    visit_mut(statement, &mut |part| match part {
        StatementPartMut::Select(select) => {
            for window in &mut select.named_window {
                if let NamedWindowExpr::WindowSpec(window) = &mut window.1 {
                    state(window);
                }
            }
        }
        StatementPartMut::Expr(Expr::Function(function)) => {
            if let Some(WindowType::WindowSpec(window)) = &mut function.over {
                state(window);
            }
        }
        _ => {}
    });
}

fn state(window: &mut WindowSpec) {
    // A window that extends a named window uses the frame of the named window.
    if window.window_name.is_none() && !window.order_by.is_empty() && window.window_frame.is_none() {
        window.window_frame = Some(WindowFrame {
            units: WindowFrameUnits::Range,
            start_bound: WindowFrameBound::Preceding(None),
            end_bound: Some(WindowFrameBound::CurrentRow),
        });
    }
}
