//! The state of a run: the view of the last request, its summary, and the tokens that were reported.

use tool_core::store::{Message, Role, ThreadId, Usage};
use tool_core::turn::{Model, ModelRequest};
use tool_core::{ErrorKind, ToolError};

use super::compact::{Summariser, summary_message};
use super::config::{Limits, Settings};
use super::count::{Count, Measure};
use super::layout::{Kind, Layout};
use super::summary::StoredSummary;
use super::trim;

/// The state of a run.
#[derive(Default)]
pub(super) struct State {
    /// The reduced maximum size of a request, if the provider refused a request that the window allows.
    room: Option<u64>,
    /// The thread of the requests.
    thread: Option<ThreadId>,
    summary: Option<StoredSummary>,
    /// The estimated size of the thread at which a compaction is tried again.
    next_attempt: u64,
    measured: Option<Measured>,
    /// The sequence number of the unit that determines the last removed step, after steps were removed without a summary.
    fallback: Option<u64>,
    /// The model that writes summaries; `None` until it is needed.
    pub(super) summariser: Option<Box<dyn Model + Sync>>,
    /// Tokens of requests to the summariser and of failed attempts, which no message contains.
    pub(super) spent: Option<Usage>,
    /// Whether the current request was sent to the model.
    pub(super) asking: bool,
}

/// The report of the provider for the last request.
struct Measured {
    measure: Measure,
    /// The number of units of the thread at the time of the request.
    units: usize,
}

/// The messages of a request.
pub(super) struct View {
    /// `None` if the complete thread is sent.
    messages: Option<Vec<Message>>,
    count: Count,
    /// The number of units of the thread from which the view was made.
    units: usize,
}

impl View {
    /// Returns the messages to send in place of a thread.
    pub(super) fn messages<'a>(&'a self, thread: &'a [Message]) -> &'a [Message] {
        self.messages.as_deref().unwrap_or(thread)
    }

    pub(super) fn is_shorter(&self, than: &Self) -> bool {
        self.count.total() < than.count.total()
    }
}

impl State {
    pub(super) fn spend(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            *self.spent.get_or_insert_default() += usage;
        }
    }

    /// Begins a request. Of the state of a different thread, only the reduced size and the unreported tokens are kept, and the summary of a new
    /// thread is read from the store.
    pub(super) async fn begin(&mut self, request: &ModelRequest<'_>, window: &Settings) {
        self.asking = false;
        let thread = request.messages.first().map(|message| &message.thread);
        if self.thread.as_ref() == thread {
            return;
        }
        *self = Self {
            room: self.room,
            spent: self.spent.take(),
            ..Self::default()
        };
        let store = window.compaction.as_ref();
        if let Some(thread) = thread
            && let Some(store) = store.and_then(|compaction| compaction.store.as_ref())
        {
            match store.get(thread).await {
                Ok(stored) => {
                    let stored = stored.unwrap_or_default();
                    self.next_attempt = stored.next_attempt;
                    self.summary = Some(stored).filter(|stored| !stored.text.is_empty());
                }
                Err(error) => tracing::warn!(%error, "the summary of a thread could not be read"),
            }
        }
        self.thread = thread.cloned();
    }

    /// Stores the tokens that the provider reported for a view.
    pub(super) fn learn(&mut self, view: &View, usage: Option<Usage>) {
        let reported = usage.map_or(0, |usage| usage.input_tokens);
        if reported > 0 {
            self.measured = Some(Measured {
                measure: Measure::new(reported, view.count.estimate()),
                units: view.units,
            });
        }
    }

    /// Reduces the maximum size of a request, because the provider has refused this view as too long.
    pub(super) fn shrink(&mut self, view: &View) {
        self.room = Some(view.count.total() / 4 * 3);
    }

    /// Returns the messages of a request.
    pub(super) async fn view(
        &mut self,
        request: &ModelRequest<'_>,
        window: &Settings,
    ) -> Result<View, ToolError> {
        let layout = Layout::of(request.messages, &*window.counter);
        let fixed = window.counter.tools(request.tools);
        let limits = window.limits(self.room.unwrap_or_else(|| window.room()));
        let (removed, count) = if window.compaction.is_some() {
            self.compacted(request, &layout, fixed, &limits, window)
                .await
        } else {
            trim::replay(&layout, fixed, &limits, window.keep_rounds)
        };
        if count.total() > limits.room {
            return Err(too_large(&count, &limits, window));
        }
        let summary = self.summary.as_ref();
        let messages = (removed > 0).then(|| {
            let mut view = layout.view(removed);
            if let Some(summary) = summary
                && let Some(first) = layout.first()
            {
                // The summary is the first message after the instructions.
                let at = view.iter().position(|it| it.role != Role::System);
                let message = summary_message(first, &summary.text);
                view.insert(at.unwrap_or(view.len()), message);
            }
            view
        });
        Ok(View {
            messages,
            count,
            units: layout.units.len(),
        })
    }

    /// Returns how many steps are removed from a view with a summary, and the count of the view.
    async fn compacted(
        &mut self,
        request: &ModelRequest<'_>,
        layout: &Layout<'_>,
        fixed: u64,
        limits: &Limits,
        window: &Settings,
    ) -> (usize, Count) {
        let through = self.summary.as_ref().map(|summary| summary.through);
        let mut covered = through.map_or(0, |seq| layout.steps_through(seq));
        if covered == 0 {
            // No summary exists, or the thread was erased after the summary was written.
            self.summary = None;
        }
        let mut count = self.count(layout, fixed, covered, window);
        if count.total() > limits.trigger
            && let Some((more, shorter)) = self
                .extend(request, layout, (covered, count), limits, window)
                .await
        {
            (covered, count) = (more, shorter);
        }
        if count.total() <= limits.room {
            return (covered, count);
        }
        self.trimmed(layout, covered, count, limits, window)
    }

    /// Removes more steps, because the request would be too long otherwise. The next requests begin with the same message, if they are not too long.
    fn trimmed(
        &mut self,
        layout: &Layout<'_>,
        mut removed: usize,
        mut count: Count,
        limits: &Limits,
        window: &Settings,
    ) -> (usize, Count) {
        let boundary = layout.boundary(layout.units.len(), window.keep_rounds);
        let earlier = self.fallback.map_or(0, |seq| layout.steps_through(seq));
        while removed < earlier && layout.steps[removed].key < boundary {
            layout.subtract(&mut count, removed);
            removed += 1;
        }
        if count.total() > limits.room {
            trim::remove(layout, &mut removed, &mut count, boundary, limits.target);
        }
        if removed > 0 {
            self.fallback = Some(layout.units[layout.steps[removed - 1].key].seq);
        }
        (removed, count)
    }

    /// Counts a view without the first `covered` steps. The summary, if there is one, is included.
    fn count(&self, layout: &Layout<'_>, fixed: u64, covered: usize, window: &Settings) -> Count {
        let summary = self.summary.as_ref();
        let text = summary.map_or(0, |summary| tokens(layout, &summary.text, window));
        let fixed = fixed + text;
        let mut removed = vec![false; layout.units.len()];
        for unit in layout.steps[..covered]
            .iter()
            .flat_map(|step| &step.removes)
        {
            removed[*unit] = true;
        }
        let kept = || {
            let units = layout.units.iter().enumerate();
            units.filter(|(at, _)| !removed[*at])
        };
        let mut count = match &self.measured {
            Some(measured) => Count::measured(fixed, measured.measure, measured.units),
            None => reported(layout, fixed, &removed, summary),
        };
        for (at, unit) in kept() {
            count.add(at, unit.tokens);
        }
        count
    }

    /// Extends the summary until the view is at the target. Returns the number of covered steps and the new count; `None` if no summary was
    /// requested or written, or if it saves too little.
    async fn extend(
        &mut self,
        request: &ModelRequest<'_>,
        layout: &Layout<'_>,
        (covered, before): (usize, Count),
        limits: &Limits,
        window: &Settings,
    ) -> Option<(usize, Count)> {
        let compaction = window.compaction.as_ref()?;
        let thread = self.thread.clone()?;
        let size: u64 = layout.units.iter().map(|unit| unit.tokens).sum();
        if size < self.next_attempt {
            return None;
        }
        // The view without a summary. The length of the longest summary is added to it.
        let mut without = before;
        let old = self.summary.as_ref();
        let old_tokens = old.map_or(0, |summary| tokens(layout, &summary.text, window));
        without.remove_fixed(old_tokens);
        let mut boundary = layout.boundary(layout.units.len(), window.keep_rounds);
        if let Some(last) = layout.steps.get(layout.closed_steps()) {
            boundary = boundary.min(last.key);
        }
        let mut end = covered;
        let target = limits.target.saturating_sub(compaction.most_summary_tokens);
        trim::remove(layout, &mut end, &mut without, boundary, target);
        if end == covered || !gains(&before, &without) {
            return None;
        }
        let summariser = Summariser {
            compaction,
            counter: &*window.counter,
            most_input: compaction.most_input_tokens.unwrap_or(limits.room),
            thread: &thread,
            request: *request,
        };
        let so_far = old.map_or_else(String::new, |summary| summary.text.clone());
        let model = self.summariser.get_or_insert_with(|| compaction.model());
        let text = summariser.extend(&so_far, layout, covered..end, &mut **model, &mut self.spent);
        let text = match text.await {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!(%error, "a conversation could not be summarised");
                self.next_attempt = size + limits.room / 10;
                return None;
            }
        };
        let mut written = StoredSummary {
            through: layout.units[layout.steps[end - 1].key].seq,
            read: request.messages.iter().map(|it| it.seq).max()?,
            text,
            next_attempt: 0,
        };
        let mut after = without;
        after.add_fixed(tokens(layout, &written.text, window));
        let better = gains(&before, &after);
        if better {
            self.summary = Some(written.clone());
            self.next_attempt = 0;
        } else {
            tracing::warn!(
                "a summary was not used, because it makes the request less than 20 % shorter"
            );
            self.next_attempt = size + limits.room / 10;
            written = self.summary.clone().unwrap_or_default();
            written.next_attempt = self.next_attempt;
        }
        if let Some(store) = &compaction.store
            && let Err(error) = store.put(&thread, written).await
        {
            tracing::warn!(%error, "the summary of a thread could not be stored");
        }
        better.then_some((end, after))
    }
}

/// Begins a count with the report in the last message of an earlier run. The report is used only if the view of its request is known. It never lowers
/// the count, because the earlier run may have removed more.
fn reported(
    layout: &Layout<'_>,
    fixed: u64,
    removed: &[bool],
    summary: Option<&StoredSummary>,
) -> Count {
    let kept = || {
        layout
            .units
            .iter()
            .enumerate()
            .zip(removed)
            .filter(|(_, removed)| !**removed)
    };
    let last = kept().rev().find_map(|((at, unit), _)| match unit.kind {
        Kind::Round { reported, .. } => Some((at, unit.seq, reported?)),
        _ => None,
    });
    let last = last.filter(|(_, seq, _)| summary.is_none_or(|summary| summary.read < *seq));
    let Some((end, _, tokens)) = last else {
        return Count::new(fixed);
    };
    let before = kept().filter(|((at, _), _)| *at < end);
    let estimate = fixed + before.map(|((_, unit), _)| unit.tokens).sum::<u64>();
    Count::measured(fixed, Measure::new(tokens.max(estimate), estimate), end)
}

/// Returns whether `after` is at least 20 % shorter than `before`.
fn gains(before: &Count, after: &Count) -> bool {
    let (before, after) = (before.total(), after.total());
    before.saturating_sub(after) >= before.div_ceil(5)
}

/// Returns the tokens of the message that contains a summary.
fn tokens(layout: &Layout<'_>, summary: &str, window: &Settings) -> u64 {
    let first = layout.first();
    first.map_or(0, |first| {
        window.counter.message(&summary_message(first, summary))
    })
}

fn too_large(count: &Count, limits: &Limits, window: &Settings) -> ToolError {
    let text = "the conversation does not fit into the context window";
    ToolError::of(ErrorKind::Failed, text).operator(format!(
        "the messages that must stay in the request (system messages, the last message of the user, open calls and the last {} rounds) and the tools \
         have about {} tokens, and a request may have {}: shorten these messages, offer fewer tools, lower `keep_rounds` or `reserve`, or use a model \
         with a larger window and raise `most_tokens`",
        window.keep_rounds,
        count.total(),
        limits.room
    ))
}
