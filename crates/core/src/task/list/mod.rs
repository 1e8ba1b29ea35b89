//! Markdown lists of tasks: `- [ ] Fix login bug` under headings, read and written with markers.
//!
//! Reading keeps every byte: what [`List::read`] read is written as the same text. Writing
//! changes the character between the brackets and nothing else, and appends what is missing.

mod faults;
mod merge;

use std::collections::{BTreeMap, BTreeSet};

pub use faults::{LONGEST_TITLE, Order};
pub use merge::{Change, Import, Moves, plan_import};

use super::{Brief, ListLine, Priority, Task, TaskState};
use crate::ids::CaseId;
use merge::Purpose;

/// The heading below which an export puts tasks without a section.
const COMMON_HEADING: &str = "Tasks";

/// A list as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    lines: Vec<String>,
    /// Its tasks, in order.
    pub items: Vec<Item>,
    /// What looks like a task and is none.
    pub problems: Vec<String>,
}

/// Whether the ids of tasks are written into a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// As comments at the end of their lines, so that titles may be changed there.
    Written,
    /// Not unless they stand there.
    AsTheyAre,
}

/// One task of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The line, from 0.
    line: usize,
    /// The byte of the line at which its marker stands.
    marker_at: usize,
    /// The first line after its details.
    end: usize,
    /// The state that its marker shows.
    pub state: TaskState,
    /// The id in a comment at its end: `<!-- c-1a2b3c4d5e -->`.
    pub id: Option<CaseId>,
    /// The text after the marker.
    pub title: String,
    /// The nearest heading above.
    pub section: Option<String>,
    /// Which of those with this section and title it is, from 0.
    pub repeat: usize,
    /// The indented lines below it that say something else than the following.
    pub details: String,
    /// `source: docs/SPEC.md#login`.
    pub source: Option<String>,
    /// `priority: high`.
    pub priority: Priority,
    /// `domain: backend`.
    pub domain: Option<String>,
    /// `after: Fix login bug`, the titles of tasks to be done before.
    pub after: Vec<String>,
}

impl List {
    /// Reads a list. Whatever is no task is kept as it is.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let mut list = Self {
            items: Vec::new(),
            problems: Vec::new(),
            lines,
        };
        let mut section = None;
        let mut fence: Option<Fence> = None;
        let mut repeats: BTreeMap<(Option<String>, String), usize> = BTreeMap::new();
        // The tasks to which indented lines can belong, outermost first, with their indents.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut preface = list.lines.first().is_some_and(|line| line.trim() == "---");
        for index in 0..list.lines.len() {
            let line = list.lines[index].clone();
            if let Some(closed) = &fence {
                if closed.is_closed_by(&line) {
                    fence = None;
                }
                list.add_detail(index, &mut open);
            } else if let Some(opened) = Fence::opened_by(&line) {
                fence = Some(opened);
                list.add_detail(index, &mut open);
            } else if let Some(name) = heading(&line) {
                section = Some(name);
                open.clear();
            } else if preface && index > 0 && line.trim() == "---" {
                preface = false;
            } else if let Some(name) = list.underlined(index).filter(|_| !preface) {
                section = Some(name);
                open.clear();
            } else if let Some(found) = bracket(&line) {
                let Some(state) = TaskState::from_marker(found.marker) else {
                    let (number, marker) = (index + 1, found.marker);
                    let problem = format!("line {number}: `[{marker}]` is no marker of a task");
                    list.problems.push(problem);
                    continue;
                };
                let (title, id) = split_id(found.rest);
                if title.is_empty() {
                    let problem = format!("line {}: the task has no title", index + 1);
                    list.problems.push(problem);
                    continue;
                }
                let key = (section.clone(), title.to_owned());
                let repeat = repeats.entry(key).or_default();
                let item = Item {
                    line: index,
                    marker_at: found.marker_at,
                    end: index + 1,
                    state,
                    id,
                    title: title.to_owned(),
                    section: section.clone(),
                    repeat: *repeat,
                    details: String::new(),
                    source: None,
                    priority: Priority::Normal,
                    domain: None,
                    after: Vec::new(),
                };
                *repeat += 1;
                open.retain(|(indent, _)| *indent < found.indent);
                open.push((found.indent, list.items.len()));
                list.items.push(item);
            } else if let Some(wrong) = almost_bracket(&line) {
                let number = index + 1;
                list.problems.push(format!("line {number}: {wrong}"));
            } else {
                list.add_detail(index, &mut open);
            }
        }
        list
    }

    /// Returns the heading that the line underlines: `Section` above `-----` or `=====`.
    fn underlined(&self, index: usize) -> Option<String> {
        let line = self.lines.get(index)?.trim_end();
        let is_rule = |mark: char| line.len() >= 2 && line.chars().all(|c| c == mark);
        if !is_rule('-') && !is_rule('=') {
            return None;
        }
        let above = self.lines.get(index.checked_sub(1)?)?;
        let text = above.trim();
        let is_text = !text.is_empty()
            && !above.starts_with([' ', '\t', '>', '|', '-', '*', '+', '#'])
            && bracket(above).is_none();
        is_text.then(|| text.to_owned())
    }

    /// Gives an indented line to the innermost task that it stands below.
    fn add_detail(&mut self, index: usize, open: &mut Vec<(usize, usize)>) {
        let line = self.lines[index].clone();
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        let indent = line.len() - line.trim_start().len();
        open.retain(|(outer, _)| *outer < indent);
        let Some(item) = open
            .last()
            .and_then(|(_, place)| self.items.get_mut(*place))
        else {
            return;
        };
        // A line below the tasks inside of this one is its own all the same.
        item.end = index + 1;
        let text = text.strip_prefix("- ").unwrap_or(text).trim();
        match text.split_once(": ") {
            Some(("source", value)) => item.source = Some(value.trim().to_owned()),
            Some(("domain", value)) => item.domain = Some(value.trim().to_owned()),
            Some(("after", value)) => item.after.push(value.trim().to_owned()),
            Some(("priority", value)) => match value.trim().to_lowercase().parse() {
                Ok(priority) => item.priority = priority,
                Err(error) => {
                    let problem = format!("line {}: {error}", index + 1);
                    self.problems.push(problem);
                }
            },
            _ => {
                if !item.details.is_empty() {
                    item.details.push('\n');
                }
                item.details.push_str(text);
            }
        }
    }

    /// Returns the list with the markers of `tasks`, those that are missing added to their sections.
    ///
    /// `file` is the name under which the list is known.
    #[must_use]
    pub fn with_tasks(&self, file: &str, tasks: &[Task], ids: Ids) -> String {
        let found = merge::meant(self, file, tasks, Purpose::Export);
        let lines = self.items.iter().map(|item| item.line).zip(found);
        let meant: BTreeMap<usize, &Task> = lines
            .filter_map(|(line, task)| Some((line, task?)))
            .collect();
        let seen: BTreeSet<&CaseId> = meant.values().map(|task| &task.id).collect();
        // Two lists that were imported stay apart.
        let is_imported = |line: &ListLine| line.file == file && !line.written;
        let imported = tasks.iter().any(|task| task.brief.lines().any(is_imported));
        let is_of_other_list = |task: &Task| {
            let mut lines = task.brief.lines();
            imported && task.brief.line_in(file).is_none() && lines.any(|line| !line.written)
        };
        let unseen: Vec<&Task> = tasks
            .iter()
            .filter(|task| !seen.contains(&task.id) && !is_of_other_list(task))
            .collect();
        let titles = tasks
            .iter()
            .map(|task| (task.id.clone(), task.brief.title.clone()));
        let mut marked = self.clone();
        if ids == Ids::Written {
            for item in self.items.iter().filter(|item| item.id.is_none()) {
                if let Some(task) = meant.get(&item.line) {
                    let line = &mut marked.lines[item.line];
                    let end = line.trim_end().len();
                    line.insert_str(end, &format!(" <!-- {} -->", task.id));
                }
            }
        }
        marked.render(
            |item| meant.get(&item.line).map(|task| task.state),
            &unseen,
            &titles.collect(),
            ids,
        )
    }

    /// Returns the lines that tasks have in the list once it is written, with the markers of today.
    ///
    /// Lines that are as they were before are left out.
    #[must_use]
    pub fn written_lines(&self, file: &str, tasks: &[Task]) -> Vec<(CaseId, ListLine)> {
        let meant = merge::meant(self, file, tasks, Purpose::Export);
        let lines = meant.into_iter().flatten().filter_map(|task| {
            let before = task.brief.line_in(file);
            // What was not in the list stands there now with all that it comes after.
            let after = before.map_or(&task.brief.depends_on, |line| &line.after);
            let line = ListLine {
                file: file.to_owned(),
                shown: task.state,
                after: after.clone(),
                written: before.is_none_or(|line| line.written),
            };
            (before != Some(&line)).then(|| (task.id.clone(), line))
        });
        lines.collect()
    }

    /// Returns the list with the marker of each item as `state_of` says, and `more` tasks added to
    /// their sections.
    fn render(
        &self,
        state_of: impl Fn(&Item) -> Option<TaskState>,
        more: &[&Task],
        titles: &BTreeMap<CaseId, String>,
        ids: Ids,
    ) -> String {
        let mut lines = self.lines.clone();
        for item in &self.items {
            let Some(state) = state_of(item).filter(|state| *state != item.state) else {
                continue;
            };
            let line = &mut lines[item.line];
            let (before, after) = line.split_at(item.marker_at);
            let after = after.chars().skip(1).collect::<String>();
            *line = format!("{before}{}{after}", state.marker());
        }
        let mut appended: BTreeMap<usize, String> = BTreeMap::new();
        let mut new_sections: Vec<(&str, String)> = Vec::new();
        // Where a section has the name of the common heading, its tasks come first there, as they do
        // when lines are matched with tasks.
        let mut more = more.to_vec();
        if more.iter().any(|task| is_in(task, Some(COMMON_HEADING))) {
            more.sort_by_key(|task| is_in(task, None));
        }
        for task in more {
            let text = item_text(task, titles, ids);
            let section = task.brief.section.as_deref();
            let common = section.is_none().then_some(COMMON_HEADING);
            let place = self
                .place_for(section)
                .or_else(|| common.and_then(|name| self.place_for(Some(name))));
            if let Some(at) = place {
                appended.entry(at).or_default().push_str(&text);
            } else {
                let name = section.unwrap_or(COMMON_HEADING);
                match new_sections.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, items)) => items.push_str(&text),
                    None => new_sections.push((name, text)),
                }
            }
        }
        let mut rendered = String::new();
        for (index, line) in lines.iter().enumerate() {
            rendered.push_str(line);
            if let Some(text) = appended.get(&(index + 1)) {
                end_line(&mut rendered);
                rendered.push_str(text);
            }
        }
        for (name, items) in new_sections {
            end_line(&mut rendered);
            let gap = if rendered.is_empty() { "" } else { "\n" };
            let heading = heading_text(name);
            rendered.push_str(&format!("{gap}{heading}\n\n{items}"));
        }
        rendered
    }

    /// Returns the line after the last task of a section.
    fn place_for(&self, section: Option<&str>) -> Option<usize> {
        let inside = self.items.iter();
        let inside = inside.filter(|item| item.section.as_deref() == section);
        inside.map(|item| item.end).max()
    }
}

impl Item {
    /// Returns what the task asks for, `list` aside.
    #[must_use]
    pub fn brief(&self, position: u64) -> Brief {
        Brief {
            title: self.title.clone(),
            details: self.details.clone(),
            section: self.section.clone(),
            source: self.source.clone(),
            priority: self.priority,
            position,
            depends_on: Vec::new(),
            domain: self.domain.clone(),
            list: None,
            more_lists: Vec::new(),
        }
    }
}

fn is_in(task: &Task, section: Option<&str>) -> bool {
    task.brief.section.as_deref() == section
}

/// Returns the lines of a task that is not in the list yet.
fn item_text(task: &Task, titles: &BTreeMap<CaseId, String>, ids: Ids) -> String {
    let brief = &task.brief;
    let id = match ids {
        Ids::Written => format!(" <!-- {} -->", task.id),
        Ids::AsTheyAre => String::new(),
    };
    let mut text = format!("- [{}] {}{id}\n", task.state.marker(), brief.title);
    let mut line = |name: &str, value: &str| text.push_str(&format!("  {name}: {value}\n"));
    if let Some(source) = &brief.source {
        line("source", source);
    }
    if brief.priority != Priority::Normal {
        line("priority", brief.priority.as_str());
    }
    if let Some(domain) = &brief.domain {
        line("domain", domain);
    }
    for title in brief.depends_on.iter().filter_map(|id| titles.get(id)) {
        line("after", title);
    }
    for detail in brief.details.lines().filter(|line| !line.trim().is_empty()) {
        // A line that would be read as a task of its own is escaped.
        let read_otherwise = bracket(detail).is_some() || almost_bracket(detail).is_some();
        let escape = if read_otherwise { "\\" } else { "" };
        text.push_str(&format!("  {escape}{}\n", detail.trim()));
    }
    text
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// A bracket that may hold a marker.
struct Bracket<'a> {
    indent: usize,
    marker_at: usize,
    marker: char,
    rest: &'a str,
}

/// Returns the bracket at the beginning of a list item.
fn bracket(line: &str) -> Option<Bracket<'_>> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after_bullet = match digits {
        0 => text.strip_prefix(['-', '*', '+'])?,
        _ => text[digits..].strip_prefix(['.', ')'])?,
    };
    let inside = after_bullet.trim_start_matches(' ');
    if inside.len() == after_bullet.len() {
        return None;
    }
    let inside = inside.strip_prefix('[')?;
    let marker = inside.chars().next()?;
    let rest = inside[marker.len_utf8()..].strip_prefix(']')?;
    // A link such as `- [a](b)` is no task.
    if !rest.is_empty() && !rest.starts_with([' ', '\t', '\r', '\n']) {
        return None;
    }
    Some(Bracket {
        indent,
        marker_at: line.len() - inside.len(),
        marker,
        rest,
    })
}

/// Says what is wrong with a line that is meant as a task and is none.
fn almost_bracket(line: &str) -> Option<String> {
    let text = line.trim();
    let inside = text.strip_prefix(['-', '*', '+'])?.trim_start();
    let inside = inside.strip_prefix('[')?;
    if let Some(rest) = inside.strip_prefix(']') {
        let is_task = rest.is_empty() || rest.starts_with([' ', '\t']);
        return is_task.then(|| "`[]` is no marker of a task; write `[ ]`".to_owned());
    }
    let marker = inside.chars().next()?;
    let rest = inside[marker.len_utf8()..].strip_prefix(']')?;
    TaskState::from_marker(marker)?;
    // Links: `[x](there)`, `[x][there]`, `[x]: there`.
    let is_task = !rest.is_empty() && !rest.starts_with(['(', '[', ':']);
    is_task.then(|| format!("a space belongs on either side of `[{marker}]`"))
}

/// Splits the text of a task from the id in a comment at its end.
fn split_id(text: &str) -> (&str, Option<CaseId>) {
    let text = text.trim();
    let id = text.strip_suffix("-->").and_then(|text| {
        let (title, comment) = text.rsplit_once("<!--")?;
        Some((title.trim(), CaseId::new(comment.trim()).ok()?))
    });
    match id {
        Some((title, id)) => (title, Some(id)),
        None => (text, None),
    }
}

/// Returns the text of a heading.
fn heading(line: &str) -> Option<String> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line[level..].strip_prefix([' ', '\t'])?;
    let text = text.trim();
    // `## Shop ##` is called Shop, but `## C#` is called C#.
    let open = text.trim_end_matches('#');
    let is_closed = open.is_empty() || open.ends_with([' ', '\t']);
    let text = if is_closed { open.trim() } else { text };
    ((1..=6).contains(&level) && !text.is_empty()).then(|| text.to_owned())
}

/// Returns the line of a heading that is read as this name.
fn heading_text(name: &str) -> String {
    let line = format!("## {name}");
    match heading(&line).as_deref() == Some(name) {
        true => line,
        false => format!("{line} ##"),
    }
}

/// An open fence of code, in which nothing is a task.
struct Fence {
    mark: u8,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let text = line.trim_start();
        let mark = *text
            .as_bytes()
            .first()
            .filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = text.bytes().take_while(|byte| *byte == mark).count();
        (length >= 3).then_some(Self { mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.bytes().all(|byte| byte == self.mark)
    }
}

#[cfg(test)]
mod tests;
