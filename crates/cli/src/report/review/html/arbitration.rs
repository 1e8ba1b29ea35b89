//! What came of putting the findings to a coder, as a part of the page.

use tribunal_core::review::report::ReviewReport;

use super::super::arbitrated::{stories, summary};
use super::super::facts;
use super::{rich, text};

/// Returns the section; nothing when nobody arbitrated.
pub(super) fn section(report: &ReviewReport) -> String {
    let Some(arbitration) = &report.arbitration else {
        return String::new();
    };
    let mut items = String::new();
    for story in stories(arbitration) {
        let steps: String = story
            .steps
            .iter()
            .map(|(who, says)| format!("<li>{}: {}</li>", text(who), rich(says)))
            .collect();
        items.push_str(&format!(
            "<li><strong>{}</strong> <code>{}</code> {} <small>{}</small>\n<ul>{steps}</ul></li>\n",
            text(story.state),
            text(&story.place),
            rich(&story.title),
            text(&story.id),
        ));
    }
    let lines: String = summary(report)
        .iter()
        .map(|line| format!("<p>{}.</p>\n", rich(&facts::sentence(line))))
        .collect();
    format!(
        "<section id=\"arbitration\">\n<h2>Arbitration</h2>\n<ul class=\"plain\">{items}</ul>\n{lines}</section>\n"
    )
}
