//! Which function, method or type encloses a line.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use crate::language::Language;

/// A longer path of names is not made longer.
const LONGEST_PATH: usize = 2_000;

/// A named piece of code that encloses others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScopeKind {
    /// A function that stands alone.
    Function,
    /// A function inside a type.
    Method,
    /// A class, struct, enum, union, interface, trait or implementation.
    Type,
    /// A module or namespace.
    Module,
}

/// One scope of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// Its own name.
    pub name: String,
    /// The type that a method belongs to where it stands outside of it, as in Go; else empty.
    pub owner: String,
    /// What tells it apart from others of its name: the parameters of a function, the trait of an
    /// implementation; else empty.
    pub detail: String,
    /// First line, counted from 1; decorators and attributes come before it.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
}

/// The scopes of one file, outer before inner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    scopes: Vec<Scope>,
    /// For each scope, how it is told apart from all others.
    marks: Vec<ScopeMark>,
}

/// How a scope is told apart from others with the same names around it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeMark {
    /// The details of the scope and of those around it, and its number among those that are equal even
    /// so; empty outside of any scope.
    pub signature: String,
    /// Whether no other scope of the file has its path.
    pub is_only: bool,
    /// Whether no other scope of the file has its path when methods are named without their owner, as
    /// version 0.1.0 did.
    pub is_only_plain: bool,
    /// Whether no other scope of the file has its own name.
    pub is_only_name: bool,
}

impl Outline {
    /// Returns the outline of a parsed file.
    #[must_use]
    pub fn new(language: Language, tree: &Tree, source: &str) -> Self {
        let mut scopes = Vec::new();
        let mut cursor = tree.walk();
        // The walk keeps its own stack, so that a deeply nested file cannot exhaust ours.
        let mut open_types: Vec<usize> = Vec::new();
        // Where the scopes around the node end, and which they are.
        let mut around: Vec<(usize, usize)> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        loop {
            let node = cursor.node();
            open_types.retain(|end| node.start_byte() < *end);
            around.retain(|(end, _)| node.start_byte() < *end);
            if let Some(scope) = scope_of(language, node, source, !open_types.is_empty()) {
                if scope.kind == ScopeKind::Type {
                    open_types.push(node.end_byte());
                }
                parents.push(around.last().map(|(_, index)| *index));
                around.push((node.end_byte(), scopes.len()));
                scopes.push(scope);
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    let marks = marks(&scopes, &parents);
                    return Self { scopes, marks };
                }
            }
        }
    }

    /// Returns all scopes, in the order of the source.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Returns the scopes around `line`, outermost first.
    #[must_use]
    pub fn enclosing(&self, line: u32) -> Vec<&Scope> {
        self.scopes
            .iter()
            .filter(|scope| (scope.line..=scope.end_line).contains(&line))
            .collect()
    }

    /// Returns the names of the scopes around `line`, joined by dots, methods with their owners; empty
    /// outside of any.
    #[must_use]
    pub fn path(&self, line: u32) -> String {
        let around = self.enclosing(line);
        let names: Vec<String> = around.iter().map(|scope| scope.full_name()).collect();
        names.join(".")
    }

    /// Returns how the innermost scope around `line` is told apart from the others of the file.
    #[must_use]
    pub fn mark(&self, line: u32) -> ScopeMark {
        let scopes = self.scopes.iter().zip(&self.marks);
        let mut around = scopes.filter(|(scope, _)| (scope.line..=scope.end_line).contains(&line));
        let outside = || ScopeMark {
            signature: String::new(),
            is_only: true,
            is_only_plain: true,
            is_only_name: true,
        };
        let innermost = around.next_back();
        innermost.map_or_else(outside, |(_, mark)| mark.clone())
    }

    /// Returns the path of `line` as version 0.1.0 wrote it, where methods have no owners.
    #[must_use]
    pub fn plain_path(&self, line: u32) -> String {
        let names: Vec<&str> = self
            .enclosing(line)
            .iter()
            .map(|scope| scope.name.as_str())
            .collect();
        names.join(".")
    }

    /// Returns the innermost function or method around `line`.
    #[must_use]
    pub fn function(&self, line: u32) -> Option<&Scope> {
        self.enclosing(line)
            .into_iter()
            .rev()
            .find(|scope| matches!(scope.kind, ScopeKind::Function | ScopeKind::Method))
    }
}

impl Scope {
    fn full_name(&self) -> String {
        match self.owner.as_str() {
            "" => self.name.clone(),
            owner => format!("{owner}.{}", self.name),
        }
    }
}

/// Returns how each scope is told apart from the others.
fn marks(scopes: &[Scope], parents: &[Option<usize>]) -> Vec<ScopeMark> {
    let mut paths: Vec<[String; 3]> = Vec::with_capacity(scopes.len());
    for (scope, parent) in scopes.iter().zip(parents) {
        let outer = parent.and_then(|parent| paths.get(parent));
        let own = [scope.full_name(), scope.name.clone(), scope.detail.clone()];
        let joined = match outer {
            // A deeply nested file must not take the square of its length.
            Some([full, _, _]) if full.len() > LONGEST_PATH => own,
            Some([full, plain, details]) => {
                let [one, two, three] = own;
                [
                    format!("{full}.{one}"),
                    format!("{plain}.{two}"),
                    format!("{details}.{three}"),
                ]
            }
            None => own,
        };
        paths.push(joined);
    }
    let mut counts: [BTreeMap<&str, u32>; 3] = Default::default();
    let mut equal: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for ([full, plain, _], scope) in paths.iter().zip(scopes) {
        for (count, name) in counts.iter_mut().zip([full, plain, &scope.name]) {
            *count.entry(name).or_default() += 1;
        }
    }
    let mut marks = Vec::with_capacity(scopes.len());
    for ([full, plain, details], scope) in paths.iter().zip(scopes) {
        let number = equal.entry((full, details)).or_default();
        let is_only = |at: usize, name: &str| counts[at].get(name) == Some(&1);
        marks.push(ScopeMark {
            signature: format!("{details}#{number}"),
            is_only: is_only(0, full),
            is_only_plain: is_only(1, plain),
            is_only_name: is_only(2, &scope.name),
        });
        *number += 1;
    }
    marks
}

/// Which node kinds of a grammar open a scope, and of which kind.
fn kind_of(language: Language, kind: &str) -> Option<ScopeKind> {
    use ScopeKind::{Function, Method, Module, Type};
    let scope = match language {
        Language::C => match kind {
            "function_definition" => Function,
            "struct_specifier" | "union_specifier" | "enum_specifier" => Type,
            _ => return None,
        },
        Language::Cpp => match kind {
            "function_definition" => Function,
            "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => Type,
            "namespace_definition" => Module,
            _ => return None,
        },
        Language::Go => match kind {
            "function_declaration" => Function,
            "method_declaration" => Method,
            "type_spec" => Type,
            _ => return None,
        },
        Language::Java => match kind {
            "method_declaration" | "constructor_declaration" => Method,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration" => Type,
            _ => return None,
        },
        Language::JavaScript | Language::Tsx | Language::TypeScript => match kind {
            "function_declaration"
            | "generator_function_declaration"
            | "variable_declarator"
            | "pair"
            | "function_signature" => Function,
            "method_definition" | "field_definition" | "public_field_definition" => Method,
            "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "enum_declaration" => Type,
            "internal_module" | "module" => Module,
            _ => return None,
        },
        Language::Python => match kind {
            "function_definition" => Function,
            "class_definition" => Type,
            _ => return None,
        },
        Language::Rust => match kind {
            "function_item" | "function_signature_item" | "macro_definition" => Function,
            "struct_item" | "enum_item" | "union_item" | "trait_item" | "impl_item" => Type,
            "mod_item" => Module,
            _ => return None,
        },
    };
    Some(scope)
}

fn scope_of(language: Language, node: Node<'_>, source: &str, in_type: bool) -> Option<Scope> {
    if !node.is_named() {
        return None;
    }
    let kind = kind_of(language, node.kind())?;
    if node.child_by_field_name("body").is_none() && !stands_without_body(node) {
        return None;
    }
    let name = name_of(node, source)?;
    let kind = match kind {
        ScopeKind::Function if in_type => ScopeKind::Method,
        other => other,
    };
    Some(Scope {
        kind,
        name,
        owner: owner_of(node, source).unwrap_or_default(),
        detail: detail_of(node, source).unwrap_or_default(),
        line: line_number(node.start_position().row),
        end_line: last_line(node),
    })
}

/// Tells whether a node is a scope although its grammar gives it no body of its own.
fn stands_without_body(node: Node<'_>) -> bool {
    match node.kind() {
        // A variable or property is a scope when a function is its value.
        "variable_declarator" | "pair" | "field_definition" | "public_field_definition" => {
            node.child_by_field_name("value").is_some_and(|value| {
                matches!(
                    value.kind(),
                    "arrow_function" | "function_expression" | "generator_function"
                )
            })
        }
        "type_spec"
        | "struct_item"
        | "union_item"
        | "macro_definition"
        | "function_signature_item"
        | "method_declaration"
        | "function_signature" => true,
        _ => false,
    }
}

fn name_of(node: Node<'_>, source: &str) -> Option<String> {
    if let Some(name) = node.child_by_field_name("name") {
        return text_of(name, source);
    }
    if node.kind() == "impl_item" {
        return text_of(node.child_by_field_name("type")?, source);
    }
    for field in ["property", "key"] {
        if let Some(name) = node.child_by_field_name(field) {
            return text_of(name, source);
        }
    }
    // C and C++ wrap the name in declarators, one per `*`, `&` and parameter list.
    let mut inner = node.child_by_field_name("declarator")?;
    while let Some(next) = inner.child_by_field_name("declarator").or_else(|| {
        let is_wrapper = matches!(
            inner.kind(),
            "reference_declarator" | "parenthesized_declarator"
        );
        is_wrapper.then(|| inner.named_child(0)).flatten()
    }) {
        inner = next;
    }
    text_of(inner, source)
}

/// Returns the type of the receiver of a method in Go.
fn owner_of(node: Node<'_>, source: &str) -> Option<String> {
    let receiver = text_of(node.child_by_field_name("receiver")?, source)?;
    let inner = receiver.trim_start_matches('(').trim_end_matches(')');
    // A type may have parameters, as in `(s *Stack[K, V])`.
    let inner = inner.split('[').next().unwrap_or(inner).trim();
    let name = inner.rsplit([' ', '*']).next().unwrap_or(inner);
    Some(name.to_owned())
}

/// Returns what tells a function or an implementation apart from another of its name, without spaces.
fn detail_of(node: Node<'_>, source: &str) -> Option<String> {
    let detail = match node.kind() {
        "impl_item" => node.child_by_field_name("trait"),
        _ => parameters_of(node),
    };
    let text = text_of(detail?, source)?;
    Some(text.split_whitespace().collect())
}

/// Returns the parameters of a function, which may be the value of a variable or the inside of a
/// declarator.
fn parameters_of(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    loop {
        for field in ["parameters", "parameter"] {
            if let Some(found) = at.child_by_field_name(field) {
                return Some(found);
            }
        }
        let inner = at.child_by_field_name("value");
        at = inner.or_else(|| at.child_by_field_name("declarator"))?;
    }
}

fn text_of(node: Node<'_>, source: &str) -> Option<String> {
    let text = source.get(node.byte_range())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.join(" ");
    Some(tribunal_core::text::truncate_chars(&name, 120).into_owned())
}

/// Returns the number, counted from 1, of a row counted from 0.
pub(crate) fn line_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}

/// Returns the last line that a node has text on.
pub(crate) fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    // A node that ends with a newline ends, for a reader, on the line before.
    let row = if end.column == 0 && end.row > node.start_position().row {
        end.row - 1
    } else {
        end.row
    };
    line_number(row)
}

#[cfg(test)]
mod tests;
