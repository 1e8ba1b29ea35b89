//! `tribunal debate`.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Instant;

use tribunal_core::debate::{Debate, Input, Outgoing, Reader};
use tribunal_engine::config::Span;

use super::consensus::{DEFAULT_POLICY, exit_of, policy_named};
use super::lines::{Line, bounded};
use super::review;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Debate a change in three rounds, or arbitrate a debate among teammates
///
/// Without `--stdio` it is `tribunal review --rounds 3`: the panel reports, examines and defends.
///
/// With `--stdio` it reads one JSON message per line and answers with one JSON message per line. The lead opens with
/// the findings by reviewer, passes on or lets reviewers send the answers of rounds 2 and 3, ends
/// each round with `ROUND 2 COMPLETE` and `ROUND 3 COMPLETE`, and gets the consensus. Only whole
/// messages of the lead steer. If the first message names its sender, all must; otherwise lines
/// without a sender are the lead's.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: those of `tribunal review`; with --stdio 0 no finding of severity high \
    or critical was accepted, 1 one was, 2 usage, 5 inconclusive: messages stopped before the end, a \
    reviewer did not respond, or a dispute about a high or critical finding is open.\n\n\
    Examples:\n  \
    tribunal debate src/ --all\n  \
    tribunal debate --stdio --lead team-lead --timeout 10m < messages.jsonl"
)]
#[group(skip)]
pub(crate) struct Args {
    /// Talk over standard input and output
    #[arg(long, conflicts_with_all = ["paths", "source", "rounds", "all", "resume", "schema", "save"])]
    stdio: bool,
    /// With --stdio, the name of the lead, whose signals count
    #[arg(
        long,
        value_name = "NAME",
        default_value = "team-lead",
        requires = "stdio"
    )]
    lead: String,
    /// With --stdio, the arithmetic: arena, tribunal, or a JSON file with the numbers to change
    #[arg(long, value_name = "POLICY", default_value = DEFAULT_POLICY, requires = "stdio")]
    policy: String,
    /// With --stdio, end a round after this time with the answers there are
    #[arg(long, value_name = "DURATION", value_parser = parse_span, default_value = "10m", requires = "stdio")]
    timeout: Span,
    #[command(flatten)]
    review: review::Args,
}

fn parse_span(text: &str) -> Result<Span, String> {
    Span::parse(text).ok_or_else(|| "give a duration such as `30s`, `5m` or `1h30m`".to_owned())
}

/// Holds the debate: of the panel, or among teammates.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    if args.stdio {
        return arbitrate(invocation, &args);
    }
    review::run(invocation, args.review.in_three_rounds()).await
}

/// Arbitrates until the lead ends it, or messages stop or do not come any more.
fn arbitrate(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    let policy = policy_named(invocation, &args.policy)?;
    let mut debate = Debate::new(args.lead.as_str(), policy);
    let mut reader = Reader::new(args.lead.as_str());
    let (sender, lines) = sync_channel(16);
    // The thread ends with its input, or with the process: nobody waits for it.
    std::thread::spawn(move || {
        for line in bounded(std::io::stdin().lock()) {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut clock = RoundClock::new(args.timeout);
    while !debate.is_shut_down() && !debate.was_broken_off() {
        clock.follow(debate.round());
        let input = match clock.wait_for(&lines) {
            Ok(Line::Text(text)) => match reader.read(&text) {
                Some(input) => input,
                None => continue,
            },
            Ok(Line::Unreadable(why)) => Input::Unreadable(why),
            Err(RecvTimeoutError::Timeout) if debate.round().is_some() => Input::Deadline,
            // Who neither opens the debate nor ends it within the time has gone.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                if debate.report().is_some() {
                    break;
                }
                Input::Closed
            }
        };
        if send(&debate.hear(input))? == Listener::Gone {
            break;
        }
    }
    Ok(match debate.report() {
        Some(report) if !debate.was_broken_off() => exit_of(report),
        _ => Exit::Inconclusive,
    })
}

/// When the round in progress must end, or the wait for what comes before and after the rounds.
struct RoundClock {
    limit: Span,
    round: Option<u8>,
    end: Option<Instant>,
}

impl RoundClock {
    fn new(limit: Span) -> Self {
        Self {
            limit,
            round: None,
            end: Instant::now().checked_add(limit.0),
        }
    }

    /// Starts anew when another round has begun.
    fn follow(&mut self, round: Option<u8>) {
        if self.round == round {
            return;
        }
        self.round = round;
        self.end = Instant::now().checked_add(self.limit.0);
    }

    fn wait_for(&self, lines: &std::sync::mpsc::Receiver<Line>) -> Result<Line, RecvTimeoutError> {
        match self.end {
            Some(end) => lines.recv_timeout(end.saturating_duration_since(Instant::now())),
            None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }
}

/// Whether anybody reads what we say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listener {
    There,
    Gone,
}

fn send(messages: &[Outgoing]) -> Result<Listener, CliError> {
    let mut out = std::io::stdout().lock();
    for message in messages {
        let line = serde_json::to_string(message).map_err(|error| {
            CliError::new(Exit::Internal, "cannot write a message").caused_by(&error)
        })?;
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                return Ok(Listener::Gone);
            }
            Err(error) => {
                return Err(
                    CliError::new(Exit::Internal, "cannot write a message").caused_by(&error)
                );
            }
        }
    }
    Ok(Listener::There)
}
