//! Who makes a commit.

use super::{Error, Repo, Result};

/// A name and an address, as they stand in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl std::fmt::Display for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

impl Person {
    /// Reads `Name <address>`.
    pub fn parse(text: &str) -> Option<Person> {
        let (name, rest) = text.trim().split_once('<')?;
        let email = rest.strip_suffix('>')?;
        let (name, email) = (name.trim(), email.trim());
        if name.is_empty() || email.contains(['<', '>', '\n']) || name.contains(['>', '\n']) {
            return None;
        }
        Some(Person { name: name.to_owned(), email: email.to_owned() })
    }

    /// The person with everything taken out that would break a commit's header: git does the same to names it is
    /// given, and `fsck` refuses commits in which it was not done.
    pub(super) fn encoded(&self) -> Person {
        let clean = |text: &str| {
            let kept: String = text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\r' | '\0')).collect();
            let crud = |c: char| c.is_whitespace() || c.is_control() || ".,:;\"\\'".contains(c);
            kept.trim_matches(crud).to_owned()
        };
        let name = clean(&self.name);
        Person { name: if name.is_empty() { "unknown".to_owned() } else { name }, email: clean(&self.email) }
    }
}

impl Repo {
    /// The person whose git identity runs this process (the committer: environment, then config).
    ///
    /// # Errors
    /// [`Error::NoIdentity`] when git knows none.
    pub fn operator(&self) -> Result<Person> {
        let variable = |key: &str| std::env::var(key).ok().filter(|value| !value.trim().is_empty());
        let setting = |key: &str| self.config(key).filter(|value| !value.trim().is_empty());
        let name = variable("GIT_COMMITTER_NAME")
            .or_else(|| setting("committer.name"))
            .or_else(|| setting("user.name"))
            .ok_or(Error::NoIdentity)?;
        let email = variable("GIT_COMMITTER_EMAIL")
            .or_else(|| setting("committer.email"))
            .or_else(|| setting("user.email"))
            .or_else(|| variable("EMAIL"))
            .ok_or(Error::NoIdentity)?;
        Ok(Person { name, email })
    }

    /// Whether the operator's git signs commits (`commit.gpgSign`).
    pub fn signs(&self) -> bool {
        self.config_bool("commit.gpgSign").unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::Person;

    fn person(name: &str, email: &str) -> Person {
        Person { name: name.to_owned(), email: email.to_owned() }
    }

    #[test]
    fn a_name_with_an_address_is_read_and_anything_else_is_not() {
        assert_eq!(Person::parse(" Ada L. <ada@example.org> "), Some(person("Ada L.", "ada@example.org")));
        for text in ["Ada", "<ada@example.org>", "Ada <ada", "Ada <a<b>", "Ada\nEve <a@b>"] {
            assert_eq!(Person::parse(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_that_breaks_a_header_is_written() {
        assert_eq!(person("Eve\ncommitter <x>", "<e@x>\n").encoded(), person("Evecommitter x", "e@x"));
        assert_eq!(person("<>", "").encoded(), person("unknown", ""));
    }
}
