//! The panels on which methods are compared.

use tribunal_core::verdict::Ballot;

use crate::data::Item;

/// Judges who sit together.
pub struct Panel {
    pub name: &'static str,
    /// Everybody who was heard sits, however many.
    pub everybody: bool,
    judges: &'static [&'static str],
}

impl Panel {
    /// Returns what the panel gave, if all of it was heard.
    pub fn ballots(&self, item: &Item) -> Option<Vec<Ballot>> {
        if self.everybody {
            let all = item.judges.iter();
            return Some(all.map(|(judge, given)| given.ballot(judge)).collect());
        }
        let judges = self.judges.iter();
        judges
            .map(|judge| Some(item.judges.get(*judge)?.ballot(judge)))
            .collect()
    }
}

macro_rules! six {
    ($name:literal, $strategy:literal) => {
        Panel {
            name: $name,
            everybody: false,
            judges: &[
                concat!("ChatGPT/", $strategy),
                concat!("ChatGPT-0301/", $strategy),
                concat!("Falcon/", $strategy),
                concat!("GPT-4/", $strategy),
                concat!("LLaMA2/", $strategy),
                concat!("PaLM2/", $strategy),
            ],
        }
    };
}

pub const PANELS: &[Panel] = &[
    six!("6 models", "Vanilla"),
    Panel {
        name: "5 GPT-4",
        everybody: false,
        judges: &[
            "GPT-4/Rating",
            "GPT-4/Rating_Metrics",
            "GPT-4/Rating_Metrics_Reference",
            "GPT-4/Rating_NoRules",
            "GPT-4/Rating_Reference",
        ],
    },
    Panel {
        name: "3 raters",
        everybody: false,
        judges: &["GPT-4/Rating", "ChatGPT/Rating", "ChatGPT/Rating_NoRules"],
    },
    Panel {
        name: "8 judges",
        everybody: false,
        judges: &[
            "ChatGPT/Metrics_Reference",
            "ChatGPT/Vanilla_NoRules",
            "GPT-4/Metrics_Reference",
            "GPT-4/Vanilla_NoRules",
            "LLaMA2/Metrics_Reference",
            "LLaMA2/Vanilla_NoRules",
            "PaLM2/Metrics_Reference",
            "PaLM2/Vanilla_NoRules",
        ],
    },
    six!("6 CoT", "CoT"),
    six!("6 Metrics", "Metrics"),
    six!("6 Met_Ref", "Metrics_Reference"),
    six!("6 Refer.", "Reference"),
    six!("6 Swap", "Swap"),
    six!("6 SwapCoT", "Swap_CoT"),
    Panel {
        name: "everybody",
        everybody: true,
        judges: &[],
    },
];
