//! Adds the window frames that a statement leaves out.
//!
//! In SQL, a window with ORDER BY and without a frame ends at the last row that is equal to the
//! current row in the ORDER BY columns. DataFusion lets such a window end at the current row if the
//! ORDER BY column is declared as a key, but the declaration may be wrong (see
//! [`crate::data::source::forget_claims`]). Therefore, the frame is added before the statement is
//! planned.

use datafusion::sql::parser::{CopyToSource, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{
    Expr, NamedWindowExpr, Select, VisitMut, VisitorMut, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec,
    WindowType,
};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// Adds the frame that SQL defines to each window of a statement that has an order but no frame.
pub(crate) fn state_frames(statement: &mut DfStatement) {
    let visited = match statement {
        DfStatement::Statement(statement) => statement.visit(&mut Frames),
        DfStatement::Explain(explain) => return state_frames(&mut explain.statement),
        DfStatement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => query.visit(&mut Frames),
            CopyToSource::Relation(_) => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    };
    debug_assert!(visited.is_continue());
}

struct Frames;

impl VisitorMut for Frames {
    type Break = Infallible;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Infallible> {
        for window in &mut select.named_window {
            if let NamedWindowExpr::WindowSpec(window) = &mut window.1 {
                state(window);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Infallible> {
        if let Expr::Function(function) = expr
            && let Some(WindowType::WindowSpec(window)) = &mut function.over
        {
            state(window);
        }
        ControlFlow::Continue(())
    }
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
