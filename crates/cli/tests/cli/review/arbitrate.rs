//! `review --arbitrate`: a coder answers, somebody rules, whoever raised it checks.

mod cheats;
mod claims;
mod coders;
mod court;
mod dismissed;
mod fixes;
mod handover;
mod joined;
mod menu;
mod money;
mod offers;
mod precedents;
mod rounds;
mod rulings;
