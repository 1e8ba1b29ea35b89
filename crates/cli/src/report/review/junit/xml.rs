//! Suites and cases of JUnit, written as XML 1.0.

use super::super::shown::shown;

/// How a test case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Well,
    Fails,
    Breaks,
    IsSkipped,
}

/// A list of test cases.
pub(super) struct Suite {
    pub(super) name: &'static str,
    pub(super) properties: Vec<(&'static str, String)>,
    pub(super) cases: Vec<Case>,
}

/// A test case.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) file: Option<String>,
    pub(super) time_ms: u64,
    pub(super) ends: Ends,
    pub(super) message: String,
    pub(super) text: String,
    /// What is worth reading though nothing failed.
    pub(super) remarks: String,
}

impl Case {
    /// Returns a case that ends well.
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            file: None,
            time_ms: 0,
            ends: Ends::Well,
            message: String::new(),
            text: String::new(),
            remarks: String::new(),
        }
    }
}

impl Suite {
    /// Returns the list.
    pub(super) fn new(name: &'static str, cases: Vec<Case>) -> Self {
        Self {
            name,
            properties: Vec::new(),
            cases,
        }
    }

    /// Returns how many of its cases end so.
    pub(super) fn count(&self, ends: Ends) -> usize {
        self.cases.iter().filter(|case| case.ends == ends).count()
    }

    /// Appends the list.
    pub(super) fn write(&self, out: &mut String) {
        let time: u64 = self.cases.iter().map(|case| case.time_ms).sum();
        out.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" \
             time=\"{}\">\n",
            self.name,
            self.cases.len(),
            self.count(Ends::Fails),
            self.count(Ends::Breaks),
            self.count(Ends::IsSkipped),
            seconds(time)
        ));
        if !self.properties.is_empty() {
            out.push_str("    <properties>\n");
            for (name, value) in &self.properties {
                let value = xml(value);
                out.push_str(&format!(
                    "      <property name=\"{name}\" value=\"{value}\"/>\n"
                ));
            }
            out.push_str("    </properties>\n");
        }
        for case in &self.cases {
            case.write(out, self.name);
        }
        out.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn write(&self, out: &mut String, suite: &str) {
        let file = match &self.file {
            Some(file) => format!(" file=\"{}\"", xml(file)),
            None => String::new(),
        };
        out.push_str(&format!(
            "    <testcase classname=\"{suite}\" name=\"{}\"{file} time=\"{}\"",
            xml(&self.name),
            seconds(self.time_ms)
        ));
        if self.ends == Ends::Well && self.remarks.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        let (message, text) = (xml(&self.message), xml(&self.text));
        match self.ends {
            Ends::Well => {}
            Ends::IsSkipped => out.push_str(&format!("      <skipped message=\"{message}\"/>\n")),
            Ends::Fails => out.push_str(&format!(
                "      <failure type=\"finding\" message=\"{message}\">{text}</failure>\n"
            )),
            Ends::Breaks => out.push_str(&format!(
                "      <error type=\"inconclusive\" message=\"{message}\">{text}</error>\n"
            )),
        }
        if !self.remarks.is_empty() {
            out.push_str(&format!(
                "      <system-out>{}</system-out>\n",
                xml(&self.remarks)
            ));
        }
        out.push_str("    </testcase>\n");
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Returns `text` as it may stand in XML 1.0, in an element or an attribute. What XML forbids
/// even as a reference is written out.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in shown(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
