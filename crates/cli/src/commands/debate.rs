//! `tribunal debate`.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Instant;

use tribunal_core::debate::{Debate, Input, Outgoing, Reader};
use tribunal_engine::config::Span;

use super::consensus::{DEFAULT_POLICY, exit_of, policy_named};
use super::lines::{Line, bounded};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Arbitrate a debate among teammates: messages in, messages out
///
/// Reads one JSON message per line and answers with one JSON message per line. The lead opens with
/// the findings by reviewer, passes on or lets reviewers send the answers of rounds 2 and 3, ends
/// each round with `ROUND 2 COMPLETE` and `ROUND 3 COMPLETE`, and gets the consensus. Only whole
/// messages of the lead steer. If the first message names its sender, all must; otherwise lines
/// without a sender are the lead's.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no finding of severity high or critical was accepted, 1 one \
    was, 2 usage, 5 inconclusive: messages stopped before the end, a reviewer did not respond, or a \
    dispute about a high or critical finding is open.\n\n\
    Example:\n  \
    tribunal debate --stdio --lead team-lead --timeout 10m < messages.jsonl"
)]
pub(crate) struct Args {
    /// Talk over standard input and output
    #[arg(long, required = true)]
    stdio: bool,
    /// The name of the lead, whose signals count
    #[arg(long, value_name = "NAME", default_value = "team-lead")]
    lead: String,
    /// The arithmetic: arena, tribunal, or a JSON file with the numbers to change
    #[arg(long, value_name = "POLICY", default_value = DEFAULT_POLICY)]
    policy: String,
    /// End a round after this time with the answers there are, such as `10m`
    #[arg(long, value_name = "DURATION", value_parser = parse_span)]
    timeout: Option<Span>,
}

fn parse_span(text: &str) -> Result<Span, String> {
    Span::parse(text).ok_or_else(|| "give a duration such as `30s`, `5m` or `1h30m`".to_owned())
}

/// Holds the debate until the lead ends it or messages stop.
pub(crate) fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
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
            Err(RecvTimeoutError::Timeout) => Input::Deadline,
            Err(RecvTimeoutError::Disconnected) if debate.report().is_some() => break,
            Err(RecvTimeoutError::Disconnected) => Input::Closed,
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

/// When the round in progress must end.
struct RoundClock {
    limit: Option<Span>,
    round: Option<u8>,
    end: Option<Instant>,
}

impl RoundClock {
    fn new(limit: Option<Span>) -> Self {
        Self {
            limit,
            round: None,
            end: None,
        }
    }

    /// Starts anew when another round has begun.
    fn follow(&mut self, round: Option<u8>) {
        if self.round == round {
            return;
        }
        self.round = round;
        let limit = self.limit.filter(|_| round.is_some());
        self.end = limit.and_then(|limit| Instant::now().checked_add(limit.0));
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
