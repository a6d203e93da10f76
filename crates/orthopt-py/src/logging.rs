//! `tracing` events of the library to Python's `logging`, under the logger `orthopt`.

use std::fmt::{self, Write};
use std::sync::Once;

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::Attributes;
use tracing::{Event, Id, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// From now on events are handed to `logger`. Only the first call has an effect.
#[pyfunction]
pub fn install_logging(logger: Py<PyAny>) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = Registry::default().with(ToLogging { logger });
        // another subscriber in the same process would be a surprise, but no reason to fail
        let _ = tracing::subscriber::set_global_default(subscriber);
    });
}

struct ToLogging {
    logger: Py<PyAny>,
}

/// The fields of a span as text: ` solver=obcd n=13`.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // writing to a string cannot fail
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {}={value}", field.name());
    }
}

/// Python's numbers for levels; TRACE has none and is the lowest.
fn level(level: &Level) -> u8 {
    match *level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ToLogging {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields(String::new());
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = level(event.metadata().level());
        Python::attach(|py| {
            let logger = self.logger.bind(py);
            let wanted = logger.call_method1("isEnabledFor", (level,)).and_then(|on| on.is_truthy());
            if !wanted.unwrap_or(false) {
                return;
            }
            let mut text = String::new();
            for span in context.event_scope(event).into_iter().flatten() {
                let _ = write!(text, "{}", span.name());
                if let Some(fields) = span.extensions().get::<Fields>() {
                    text.push_str(&fields.0);
                }
                text.push(':');
            }
            let mut fields = Fields(text);
            event.record(&mut fields);
            // a broken handler must not break a run; logging reports it itself
            let _ = logger.call_method1("log", (level, fields.0.trim_start()));
        });
    }
}
