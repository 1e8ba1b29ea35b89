//! What an id means: a case, a task, a dispute or a finding, wherever one of them is asked for.

use tribunal_core::case::CaseKind;
use tribunal_core::dispute::Dispute;
use tribunal_core::ids::DisputeId;
use tribunal_store::{CaseRecord, DisputeFilter, Store, StoreError};

use super::dispute::typed_id;
use crate::error::CliError;
use crate::exit::Exit;

/// Returns the case that `text` names: its own id, that of a dispute, or a finding whose review it is.
pub(super) async fn case_of(store: &dyn Store, text: &str) -> Result<CaseRecord, CliError> {
    let id = typed_id(text);
    if id.starts_with("d-") {
        let dispute = store.find_dispute(id).await?;
        return Ok(store.find_case(dispute.id.case().as_str()).await?);
    }
    if is_finding(id) {
        let known = store.findings().await?;
        let found = known.iter().filter(|one| one.finding.id().starts_with(id));
        let found: Vec<_> = found.collect();
        return match found.as_slice() {
            [one] => match store.find_case(one.last_case.as_str()).await? {
                // A ruling spoke of it last.
                case if case.kind != CaseKind::Review => {
                    Ok(store.find_case(one.first_case.as_str()).await?)
                }
                case => Ok(case),
            },
            [] => Err(
                CliError::new(Exit::NotFound, format!("no finding has the id {id}"))
                    .hint("Findings are listed by `tribunal review` and `tribunal show CASE`"),
            ),
            several => Err(CliError::new(
                Exit::NotFound,
                format!("{id} may mean {} findings", several.len()),
            )
            .hint("Give more characters of the id")),
        };
    }
    match store.find_case(id).await {
        // Without its first letter, an id may be that of a dispute as well.
        Err(error @ StoreError::NoSuchCase { .. }) => match store.find_dispute(id).await {
            Ok(dispute) => Ok(store.find_case(dispute.id.case().as_str()).await?),
            Err(_) => Err(error.into()),
        },
        found => Ok(found?),
    }
}

/// Returns the dispute that `text` names: its own id, that of its case, of its task or review, or of
/// the finding that it is about. Of several the open one is meant, else the newest.
pub(super) async fn dispute_of(store: &dyn Store, text: &str) -> Result<Dispute, CliError> {
    let id = typed_id(text);
    if !is_finding(id) && !id.starts_with("c-") {
        return Ok(store.find_dispute(id).await?);
    }
    if is_finding(id) {
        let about = |one: &Dispute| {
            let finding = one.opening.subject.finding();
            finding.is_some_and(|finding| finding.id().starts_with(id))
        };
        return choose(
            store,
            DisputeFilter::default(),
            about,
            &format!("finding {id}"),
        )
        .await;
    }
    let case = store.find_case(id).await?;
    let whole = case.id.to_string();
    match case.kind {
        CaseKind::Dispute => {
            let id = DisputeId::of_case(&case.id);
            Ok(store.find_dispute(id.as_str()).await?)
        }
        CaseKind::Task => {
            let task = Some(whole.clone());
            let wanted = DisputeFilter {
                task,
                ..DisputeFilter::default()
            };
            choose(store, wanted, |_| true, &format!("task {whole}")).await
        }
        kind => {
            let about = |one: &Dispute| match &one.opening.subject {
                tribunal_core::dispute::Subject::Finding { review, .. } => *review == case.id,
                tribunal_core::dispute::Subject::Task { .. } => false,
            };
            let what = format!("{kind} {whole}");
            choose(store, DisputeFilter::default(), about, &what).await
        }
    }
}

async fn choose(
    store: &dyn Store,
    wanted: DisputeFilter,
    about: impl Fn(&Dispute) -> bool,
    what: &str,
) -> Result<Dispute, CliError> {
    // Newest first.
    let found = store.disputes(&wanted).await?;
    let mut found: Vec<Dispute> = found.into_iter().filter(|one| about(one)).collect();
    let open: Vec<usize> = (0..found.len())
        .filter(|index| found[*index].ruling().is_none())
        .collect();
    match (open.as_slice(), found.is_empty()) {
        (_, true) => Err(
            CliError::new(Exit::NotFound, format!("no dispute is about {what}"))
                .hint("`tribunal dispute list` shows all disputes"),
        ),
        ([], false) => Ok(found.swap_remove(0)),
        ([one], false) => Ok(found.swap_remove(*one)),
        (several, false) => {
            let ids: Vec<&str> = several.iter().map(|at| found[*at].id.as_str()).collect();
            let text = format!("several open disputes are about {what}");
            Err(CliError::new(Exit::NotFound, text).hint(format!("Name one of {}", ids.join(", "))))
        }
    }
}

/// Tells whether this is the id of a finding or the beginning of one.
pub(super) fn is_finding(id: &str) -> bool {
    id.starts_with("f-")
}
