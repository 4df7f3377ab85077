//! Types of transactions: which contexts count as one, and what they are called.
//!
//! A type is a pruned context (§4.1). Contexts are named by the user, or by the request that they execute. Contexts with
//! the same name have the same type, whatever follows, in any process.

use std::collections::HashMap;

use super::joined::{Hop, Joined};
use super::names::NO_TRANSACTION;
use super::step::Step;
use crate::Synopsis;

/// The number of a type, in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(crate) usize);

/// A name given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingRule {
    /// The type's name.
    pub name: String,
    /// What its contexts go through, in this order and with anything in between: functions, handlers, stages, requests.
    pub through: Vec<String>,
}

/// The types found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    rules: Vec<NamingRule>,
    types: Vec<Type>,
    by_key: HashMap<Key, TypeId>,
    by_context: HashMap<Synopsis, TypeId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    /// The common prefix of all its contexts.
    pub(crate) context: Synopsis,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Name(String),
    Context(Synopsis),
}

impl Types {
    /// No types yet. If several rules match, the first one counts.
    pub(crate) fn new(rules: Vec<NamingRule>) -> Self {
        Types {
            rules,
            ..Types::default()
        }
    }

    /// The type of a context.
    pub(crate) fn of(&mut self, context: Synopsis, joined: &Joined) -> TypeId {
        if let Some(&known) = self.by_context.get(&context) {
            return known;
        }
        let (name, begins) = match self.named(context, joined) {
            Some((name, begins)) => (Some(name), begins),
            None => (None, context),
        };
        let key = name.clone().map_or(Key::Context(context), Key::Name);
        let id = match self.by_key.get(&key) {
            Some(&id) => {
                let known = &mut self.types[id.0];
                known.context = common_prefix(known.context, begins, joined);
                id
            }
            None => {
                let id = TypeId(self.types.len());
                self.types.push(Type {
                    name: name.unwrap_or_else(|| own_name(context, joined)),
                    context: begins,
                });
                self.by_key.insert(key, id);
                id
            }
        };
        self.by_context.insert(context, id);
        id
    }

    /// The name of a context, and its prefix that determines the name.
    fn named(&self, context: Synopsis, joined: &Joined) -> Option<(String, Synopsis)> {
        let mut prefixes: Vec<Synopsis> = joined.contexts().prefixes(context).collect();
        prefixes.reverse();
        let by_rule =
            |rule: &NamingRule| Some((rule.name.clone(), rule.match_at(&prefixes, joined)?));
        self.rules.iter().find_map(by_rule).or_else(|| {
            prefixes
                .iter()
                .find_map(|&prefix| match joined.contexts().last_element(prefix)? {
                    Hop::Step {
                        step: Step::Request(name),
                        ..
                    } => Some((joined.names().text(*name).to_owned(), prefix)),
                    _ => None,
                })
        })
    }

    /// All types.
    pub(crate) fn all(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.types)
    }

    /// A type's name.
    pub(crate) fn name(&self, id: TypeId) -> &str {
        &self.types[id.0].name
    }
}

impl NamingRule {
    /// The shortest of these prefixes that goes through all elements of the rule.
    fn match_at(&self, prefixes: &[Synopsis], joined: &Joined) -> Option<Synopsis> {
        let mut wanted = self.through.iter().peekable();
        wanted.peek()?;
        for &prefix in prefixes {
            let Some(Hop::Step { step, .. }) = joined.contexts().last_element(prefix) else {
                continue;
            };
            for &name in step.names() {
                wanted.next_if(|it| joined.names().text(name) == **it);
            }
            if wanted.peek().is_none() {
                return Some(prefix);
            }
        }
        None
    }
}

fn own_name(context: Synopsis, joined: &Joined) -> String {
    match context.is_empty() {
        true => NO_TRANSACTION.into(),
        false => joined.texts(context).join(" → "),
    }
}

fn common_prefix(a: Synopsis, b: Synopsis, joined: &Joined) -> Synopsis {
    let of_b: Vec<Synopsis> = joined.contexts().prefixes(b).collect();
    let mut of_a = joined.contexts().prefixes(a);
    of_a.find(|it| of_b.contains(it)).unwrap_or_default()
}
