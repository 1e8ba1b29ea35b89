//! What scripted reviewers report about `src/shop.py`.

use serde_json::json;

/// One item of a reviewer's answer.
#[derive(Clone)]
pub(crate) struct ReportedClaim {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) end_line: Option<u32>,
    pub(crate) label: String,
    pub(crate) category: String,
    pub(crate) confidence: u32,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) quote: Option<String>,
    pub(crate) trigger: String,
    pub(crate) suggestion: String,
}

impl ReportedClaim {
    pub(crate) fn label(mut self, label: &str) -> Self {
        label.clone_into(&mut self.label);
        self
    }

    pub(crate) fn category(mut self, category: &str) -> Self {
        category.clone_into(&mut self.category);
        self
    }

    pub(crate) fn confidence(mut self, confidence: u32) -> Self {
        self.confidence = confidence;
        self
    }

    pub(crate) fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    pub(crate) fn description(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    pub(crate) fn file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    pub(crate) fn lines(mut self, line: u32, end_line: Option<u32>) -> Self {
        self.line = Some(line);
        self.end_line = end_line;
        self
    }

    pub(crate) fn without_line(mut self) -> Self {
        (self.line, self.end_line) = (None, None);
        self
    }

    pub(crate) fn quote(mut self, quote: &str) -> Self {
        self.quote = Some(quote.to_owned());
        self
    }

    pub(crate) fn without_quote(mut self) -> Self {
        self.quote = None;
        self
    }

    pub(crate) fn without_file(mut self) -> Self {
        (self.file, self.line, self.end_line, self.quote) = (None, None, None, None);
        self
    }

    /// Returns the item as JSON.
    pub(crate) fn as_json(&self, number: usize) -> String {
        let mut item = json!({
            "id": number.to_string(), "label": self.label, "category": self.category,
            "confidence": self.confidence, "title": self.title, "description": self.description,
            "trigger": self.trigger, "suggestion": self.suggestion,
        });
        for (key, value) in [
            ("file", json!(self.file)),
            ("line", json!(self.line)),
            ("end_line", json!(self.end_line)),
            ("quote", json!(self.quote)),
        ] {
            if !value.is_null() {
                item[key] = value;
            }
        }
        item.to_string()
    }

    /// Returns the item as a tagged line.
    pub(crate) fn as_tagged_line(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line} - "),
            (Some(file), None) => format!("{file} - "),
            _ => String::new(),
        };
        format!(
            "[{}] {place}{}. {} {}",
            self.label, self.title, self.description, self.suggestion
        )
    }
}

fn claim(line: u32, quote: &str, texts: [&str; 4]) -> ReportedClaim {
    let [title, description, trigger, suggestion] = texts.map(str::to_owned);
    ReportedClaim {
        file: Some("src/shop.py".to_owned()),
        line: Some(line),
        end_line: None,
        label: "HIGH".to_owned(),
        category: "bug".to_owned(),
        confidence: 90,
        title,
        description,
        quote: Some(quote.to_owned()),
        trigger,
        suggestion,
    }
}

/// Line 5: the statement is built from what a user typed.
pub(crate) fn injection() -> ReportedClaim {
    claim(
        5,
        "WHERE user = '%s'",
        [
            "SQL injection through the name of the user",
            "`user` is pasted into the statement, so a quote in it ends the literal and runs other SQL.",
            "user = \"' OR 1=1 --\"",
            "Pass `user` as a parameter of `db.execute`.",
        ],
    )
    .category("security")
}

/// Line 5: another claim about the same statement.
pub(crate) fn unchecked_reader() -> ReportedClaim {
    claim(
        5,
        "db.execute",
        [
            "Anybody reads the rate of any customer",
            "Nothing compares the caller's session with the account whose discount is looked up.",
            "A visitor asks for another customer's discount.",
            "Compare the account with the one of the session before the lookup.",
        ],
    )
    .category("security")
}

/// Line 5: a mild remark about the same statement.
pub(crate) fn constant_statement() -> ReportedClaim {
    claim(
        5,
        "SELECT rate FROM rates",
        [
            "The statement would read better as a constant",
            "Long literals inside of calls are hard to scan, and this project names them elsewhere.",
            "A reader looks for all statements of the shop.",
            "Give the literal a name at the top of the module.",
        ],
    )
    .label("LOW")
    .category("architecture")
}

/// Line 10: the division.
pub(crate) fn division() -> ReportedClaim {
    claim(
        10,
        "return amount / count",
        [
            "Division by zero when `count` is 0",
            "An order without items has a `count` of 0, and the exception ends the whole batch.",
            "share(10, 0)",
            "Return 0 when `count` is 0.",
        ],
    )
}

/// Line 10: another claim about the division.
pub(crate) fn lost_cents() -> ReportedClaim {
    claim(
        10,
        "return amount / count",
        [
            "Money is rounded as a float",
            "Amounts are cents; a float loses some of them, so the parts do not add up to the whole.",
            "share(100, 3)",
            "Use `divmod` and hand the rest to the first part.",
        ],
    )
}

/// Line 14: the balance.
pub(crate) fn negative_balance() -> ReportedClaim {
    claim(
        14,
        "order.balance -= amount",
        [
            "A refund above the balance makes it negative",
            "Nothing compares `amount` with the balance, so a customer is paid more than the order cost.",
            "refund(order, 10 ** 6)",
            "Refuse an `amount` above `order.balance`.",
        ],
    )
}

/// Line 14: another claim about the balance.
pub(crate) fn lost_update() -> ReportedClaim {
    claim(
        14,
        "order.balance -= amount",
        [
            "Two refunds at once lose one of them",
            "The row is read and written without a lock, so concurrent workers overwrite each other.",
            "Two workers refund the same order.",
            "Lock the row, or let the database subtract.",
        ],
    )
}

/// No place at all.
pub(crate) fn clear_text_passwords() -> ReportedClaim {
    claim(
        1,
        "",
        [
            "Passwords are stored in clear text",
            "Whoever gets a dump of the accounts table logs in as every customer of the shop.",
            "A backup is stolen.",
            "Store an argon2 hash and compare with it.",
        ],
    )
    .category("security")
    .without_file()
}

/// No place at all, and another claim.
pub(crate) fn leaking_pool() -> ReportedClaim {
    claim(
        1,
        "",
        [
            "The connection pool leaks its sockets",
            "Connections that fail during the handshake are never handed back, so the pool runs dry.",
            "The database restarts ten times.",
            "Release the connection in a `finally`.",
        ],
    )
    .without_file()
}
