//! `tribunal review`.

mod arbitrate;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use tribunal_core::case::CaseState;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::scale::Severity;
use tribunal_engine::change::ChangeSource;
use tribunal_engine::config::{ConfigError, ProjectLayer, Rounds, Usd};
use tribunal_engine::review::{ReviewWish, Reviewed, SettingsNote};

use self::arbitrate::ArbitrateArgs;
use crate::args::parse_cost;
use crate::commands::ending;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;
use crate::report::review::{Options, ReviewFormat, render, review_json, schema};

/// Review a change with a panel, and say whether it may go in
///
/// Without options it takes your uncommitted work, or your branch against its upstream. The
/// configured reviewers and the built-in ones read it independently; what they report is checked
/// against the code and settled by arithmetic. The exit code is the gate: 0 PASS, 1 FAIL,
/// 5 INCONCLUSIVE. Silence, a cut-off answer or an unread file is never a PASS.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal review\n  \
    tribunal review src/ --reviewer builtin:security\n  \
    tribunal review --base origin/main --format github --save sarif=tribunal.sarif\n  \
    tribunal review --commit HEAD --with clippy.sarif\n  \
    tribunal review src/ --arbitrate\n  \
    git diff | tribunal review --patch -")]
pub(crate) struct Args {
    /// Files or directories; alone they are reviewed whole, with another option they restrict it
    paths: Vec<String>,
    /// Review uncommitted work, or else the branch against its upstream (the default)
    #[arg(long, group = "source")]
    diff: bool,
    /// Review what the next commit would hold
    #[arg(long, group = "source")]
    staged: bool,
    /// Review the commits since the branch left this revision
    #[arg(long, value_name = "REV", group = "source")]
    base: Option<String>,
    /// Review one commit
    #[arg(long, value_name = "REV", group = "source")]
    commit: Option<String>,
    /// Review a unified diff from a file; `-` reads standard input
    #[arg(long, value_name = "FILE", group = "source")]
    patch: Option<PathBuf>,
    /// Let only these review: names of agents, `builtin`, or `builtin:security`
    #[arg(long = "reviewer", value_name = "NAME", value_delimiter = ',')]
    reviewers: Vec<String>,
    /// Add the findings of another tool: SARIF, or the JSON of a linter
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// How far reviewers debate: `contested`, 1, 2 or 3
    #[arg(long, value_name = "N")]
    rounds: Option<Rounds>,
    /// Debate all findings, not only what is contested
    #[arg(long)]
    all: bool,
    /// Fail on findings of this severity and above: low, medium, high or critical
    #[arg(long, value_name = "LEVEL")]
    fail_on: Option<Severity>,
    /// Count only findings that were not there before the change
    #[arg(long)]
    new_only: bool,
    #[command(flatten)]
    arbitrate: ArbitrateArgs,
    /// Trust the project's settings of the commit before the change, programs included; for CI
    #[arg(long)]
    trust_base: bool,
    /// Stop before the next call once the case has cost this much
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    max_cost: Option<Usd>,
    /// Go on with an interrupted review
    #[arg(long, value_name = "CASE", conflicts_with_all = ["source", "paths", "reviewers", "with"])]
    resume: Option<String>,
    /// How to print the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReviewFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also write the report to a file, as in `sarif=out.sarif`; `github-review` is one more format
    #[arg(long, value_name = "FORMAT=FILE", value_parser = parse_save)]
    save: Vec<Save>,
    /// Show everything, the rejected findings and the whole calculation included
    #[arg(long, short)]
    verbose: bool,
    /// Print the JSON schema of the report and do nothing else
    #[arg(long)]
    schema: bool,
}

impl Args {
    /// Returns the same review with all three rounds, unless others were asked for.
    pub(super) fn in_three_rounds(mut self) -> Self {
        self.rounds = self.rounds.or(Some(Rounds::Three));
        self
    }
}

/// One more form in which the report is wanted.
#[derive(Debug, Clone)]
struct Save {
    form: Form,
    file: PathBuf,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Report(ReviewFormat),
    GithubReview,
}

fn parse_save(text: &str) -> Result<Save, String> {
    let (form, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("write it as `sarif=out.sarif`")?;
    let form = match form {
        "github-review" => Form::GithubReview,
        name => Form::Report(ReviewFormat::from_str(name, true).map_err(|_| {
            let known = ReviewFormat::value_variants().iter();
            let known =
                known.filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()));
            let known: Vec<String> = known.collect();
            format!("the formats are {}, github-review", known.join(", "))
        })?),
    };
    Ok(Save {
        form,
        file: PathBuf::from(file),
    })
}

/// How a finished review is shown and kept.
#[derive(Debug)]
pub(crate) struct Presentation {
    format: ReviewFormat,
    verbose: bool,
    save: Vec<Save>,
}

impl Presentation {
    /// Returns the presentation of a review that is only looked at.
    pub(crate) fn of(format: Format) -> Self {
        Self {
            format: match format {
                Format::Text => ReviewFormat::Text,
                Format::Json => ReviewFormat::Json,
                Format::Jsonl => ReviewFormat::Jsonl,
            },
            verbose: false,
            save: Vec::new(),
        }
    }
}

/// Reviews and prints.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    if args.schema {
        invocation.print_json(&schema())?;
        return Ok(Exit::Pass);
    }
    let mut overrides = Vec::new();
    if let Some(cost) = &args.max_cost {
        overrides.push(format!("budget.per_case={cost}"));
    }
    let presentation = Presentation {
        format: if args.json {
            ReviewFormat::Json
        } else {
            args.format
        },
        verbose: args.verbose,
        save: args.save.clone(),
    };
    let resume = args.resume.clone();
    let trust_base = args.trust_base;
    let mut wish = wish(invocation, args)?;
    let needs_agents = !wish.reviewers.iter().all(|name| is_builtin(name));
    let asks = needs_agents || wish.reviewers.is_empty() || wish.arbitrate.is_some();
    let source = match &resume {
        Some(_) => &ChangeSource::Uncommitted,
        None => &wish.change,
    };
    let loaded = invocation.settings_for_review(&overrides, source, trust_base, asks)?;
    heed_trust(&mut wish, &loaded.project_layer)?;
    let settings = &loaded.settings;
    let engine = invocation.engine_of(&loaded).await?;
    let engine = invocation.asking(engine);
    let events = match presentation.format {
        ReviewFormat::Jsonl => Format::Jsonl,
        _ => Format::Text,
    };
    let mut reporter = invocation.reporter(events);
    let stream = engine.ledger().subscribe();
    let reviewed = match resume {
        Some(case) => {
            let record = engine.ledger().store().find_case(&case).await?;
            let work = invocation.stoppable(&engine, Box::pin(engine.resume(&record)));
            let resumed = report::report_while(stream, reporter.as_mut(), work).await?;
            return super::resume::finish(invocation, resumed, events, presentation);
        }
        None => {
            let work = invocation.stoppable(&engine, Box::pin(engine.review(settings, wish)));
            report::report_while(stream, reporter.as_mut(), work).await?
        }
    };
    finish(invocation, &reviewed, &presentation)
}

/// Prints what came of a review and returns the exit code.
pub(crate) fn finish(
    invocation: &Invocation,
    reviewed: &Reviewed,
    presentation: &Presentation,
) -> Result<Exit, CliError> {
    let Some(report) = &reviewed.report else {
        return Err(match &reviewed.state {
            CaseState::Parked { why, until } => ending::parked(&reviewed.case, why, *until),
            CaseState::Open | CaseState::Closed(_) => ending::left_open(&reviewed.case),
        });
    };
    show(invocation, report, presentation)?;
    Ok(match report.gate {
        Gate::Pass => Exit::Pass,
        Gate::Fail { .. } => Exit::Fail,
        Gate::Inconclusive { .. } => Exit::Inconclusive,
    })
}

/// Prints a report and writes the files that were asked for.
pub(crate) fn show(
    invocation: &Invocation,
    report: &ReviewReport,
    presentation: &Presentation,
) -> Result<(), CliError> {
    let kept = Options {
        details: presentation.verbose,
        ..Options::default()
    };
    for save in &presentation.save {
        let text = match save.form {
            Form::Report(format) => render(report, format, &kept),
            Form::GithubReview => review_json(report),
        };
        invocation.write_file(&save.file, &text)?;
    }
    let options = Options::for_stdout(presentation.verbose);
    invocation.print(&render(report, presentation.format, &options))
}

fn wish(invocation: &Invocation, args: Args) -> Result<ReviewWish, CliError> {
    let change = match (args.diff, args.staged, args.base, args.commit, &args.patch) {
        (_, true, ..) => ChangeSource::Staged,
        (_, _, Some(base), ..) => ChangeSource::Base(base),
        (_, _, _, Some(commit), _) => ChangeSource::Commit(commit),
        (_, _, _, _, Some(file)) => ChangeSource::PatchText(read_patch(invocation, file)?),
        (false, ..) if !args.paths.is_empty() => ChangeSource::Files,
        _ => ChangeSource::Default,
    };
    for file in &args.with {
        let opened = std::fs::File::open(invocation.path(file));
        opened.map_err(|error| CliError::unreadable(file, &error))?;
    }
    Ok(ReviewWish {
        directory: invocation.cwd.clone(),
        change,
        index: invocation
            .env
            .get("GIT_INDEX_FILE")
            .map(|index| invocation.path(Path::new(index))),
        paths: args.paths,
        reviewers: args.reviewers,
        with: args.with.iter().map(|file| invocation.path(file)).collect(),
        rounds: args.rounds,
        debate_all: args.all,
        fail_on: args.fail_on,
        new_only: args.new_only,
        arbitrate: args.arbitrate.wish(invocation),
        guidance: String::new(),
        parent: None,
        unasked: Vec::new(),
        settings: SettingsNote::default(),
    })
}

fn is_builtin(name: &str) -> bool {
    name == "builtin" || name.starts_with("builtin:")
}

/// Lets the review know whose settings count, and refuses to ask whom the user named but has not
/// trusted.
fn heed_trust(wish: &mut ReviewWish, layer: &ProjectLayer) -> Result<(), CliError> {
    let named = wish.reviewers.iter();
    let coder = wish.arbitrate.iter().filter_map(|wish| wish.coder.as_ref());
    let is_off = |name: &String| {
        let mut off = layer.disabled.iter().chain(&layer.unasked);
        off.any(|agent| agent.as_str() == name)
    };
    if named.chain(coder).any(is_off)
        && let Some(untrusted) = layer.lacking_trust()
    {
        return Err(ConfigError::Untrusted(untrusted).into());
    }
    wish.unasked.clone_from(&layer.unasked);
    wish.settings = SettingsNote {
        used: layer.used(),
        unless_edited: layer.notes_on_file(),
        always: layer.notes_on_base(),
    };
    Ok(())
}

fn read_patch(invocation: &Invocation, file: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = match file.to_str() {
        Some("-") => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
        _ => std::fs::read(invocation.path(file)),
    };
    read.map_err(|error| CliError::unreadable(file, &error))
}
