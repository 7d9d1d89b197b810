//! What came of a reply, and whether that is what its row says.

use super::rows::Row;

/// What came of one reply.
#[derive(Debug, Default, Clone)]
pub struct Came {
    /// Pages of proposals that wait and were not there before.
    pub staged: Vec<String>,
    /// Codes of the run's record, sorted.
    pub refused: Vec<String>,
    /// Pages that landed.
    pub accepted: Vec<String>,
    /// Pages of proposals that were known.
    pub sighted: Vec<String>,
    /// Why the reply was refused as a whole.
    pub whole: Option<String>,
    /// How the command ended.
    pub exit: i32,
    /// The first page that was staged or landed, as it would be.
    pub text: String,
    /// What is not as it must be whatever the reply.
    pub broken: Vec<String>,
    /// What the command said, for a row that differs.
    pub said: String,
}

impl Came {
    /// In words, how it differs from its row; `None` when it does not.
    pub fn differs(&self, row: &Row) -> Option<String> {
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        let mut faults = self.broken.clone();
        let mut check = |what: &str, expected: String, got: String| {
            if expected != got {
                faults.push(format!("{what}: expected {expected}, got {got}"));
            }
        };
        let list =
            |list: &[String]| if list.len() > 20 { format!("{} items", list.len()) } else { format!("{list:?}") };
        check("staged", list(&sorted(&row.staged)), list(&sorted(&self.staged)));
        check("refused", list(&row.codes()), list(&sorted(&self.refused)));
        check("accepted", list(&sorted(&row.accepted)), list(&sorted(&self.accepted)));
        check("sighted", list(&sorted(&row.sighted)), list(&sorted(&self.sighted)));
        check("refused as a whole", row.whole.to_string(), self.whole.is_some().to_string());
        check("exit code", row.exit.to_string(), self.exit.to_string());
        for text in row.holds.iter().filter(|text| !self.text.contains(*text)) {
            faults.push(format!("the page does not hold {text:?}: {:?}", self.text));
        }
        let said: String = self.said.chars().take(1_500).collect();
        (!faults.is_empty()).then(|| format!("* {}\n  {}\n  {said}", row.name, faults.join("\n  ")))
    }
}
