//! One tree of values out of several layers, which remembers where each value came from.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::error::{SettingsError, Source};
use crate::cli::text_file;

const DEFAULTS: &str = include_str!("../../../config/default.toml");
const PREFIX: &str = "STAMP_RALLY__";
/// Where an underscore was forgotten.
const NEARLY: &str = "STAMP_RALLY_";

/// The layers laid so far. Paths are written with dots, list elements by their number.
pub(super) struct Layers {
    tree: Table,
    sources: BTreeMap<String, Source>,
}

impl Layers {
    /// The first layer, with the defaults of a command over those of all.
    pub(super) fn defaults(of_command: &str) -> Result<Self, SettingsError> {
        let mut layers = Self { tree: Table::new(), sources: BTreeMap::new() };
        for (name, text) in [("config/default.toml", DEFAULTS), ("the command's defaults", of_command)] {
            layers.lay("", Value::Table(parse(name, text)?), &Source::Defaults);
        }
        Ok(layers)
    }

    /// Lays a TOML file over what is there.
    pub(super) fn lay_file(&mut self, path: &Path) -> Result<(), SettingsError> {
        let name = path.display().to_string();
        let text = text_file::read(path).map_err(|source| SettingsError::File { path: name.clone(), source })?;
        let table = parse(&name, &text)?;
        self.lay("", Value::Table(table), &Source::File(name));
        Ok(())
    }

    /// Lays the variables that begin with `STAMP_RALLY__` over what is there, in the order of their names,
    /// so that `…__LINE__CHANNELS={…}` is refined by `…__LINE__CHANNELS__MAIN__…` whatever order the system has.
    pub(super) fn lay_environment(
        &mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), SettingsError> {
        let mut ours: Vec<(String, OsString)> = environment
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(NEARLY))
            .collect();
        if let Some((name, _)) = ours.iter().find(|(name, _)| self.lacks_an_underscore(name)) {
            let source = Source::Variable(name.clone());
            let problem = "is no setting: write STAMP_RALLY__SECTION__KEY, with two underscores each time";
            return Err(SettingsError::key(name, &source, problem));
        }
        ours.retain(|(name, _)| name.starts_with(PREFIX));
        // Stable: of two with the same name the later one counts.
        ours.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, value) in ours {
            self.lay_variable(name, value)?;
        }
        Ok(())
    }

    /// `STAMP_RALLY_HTTP__BIND` is meant for us, `STAMP_RALLY_CONFIG` isn't.
    fn lacks_an_underscore(&self, name: &str) -> bool {
        let rest = name[NEARLY.len()..].to_ascii_lowercase();
        self.tree.keys().any(|section| rest.strip_prefix(section).is_some_and(|rest| rest.starts_with('_')))
    }

    fn lay_variable(&mut self, name: String, value: OsString) -> Result<(), SettingsError> {
        let key = name[PREFIX.len()..].replace("__", ".").to_ascii_lowercase();
        let source = Source::Variable(name);
        if key.split('.').any(str::is_empty) {
            return Err(SettingsError::key(key, &source, "is no key: write STAMP_RALLY__SECTION__KEY"));
        }
        let Ok(text) = value.into_string() else {
            return Err(SettingsError::key(key, &source, "must be UTF-8 text"));
        };
        let value = self.read_text(&key, &source, text)?;
        self.refuse_to_replace_a_table(&key, &source, &value)?;
        self.lay(&key, value, &source);
        Ok(())
    }

    /// JSON where the text begins as JSON, else what the key wants: that is known from its default. Every
    /// number and switch has one; a key without a default is text.
    fn read_text(&self, key: &str, source: &Source, text: String) -> Result<Value, SettingsError> {
        if text.starts_with(['[', '{']) {
            // serde_json names line and column, never the text itself.
            return serde_json::from_str(&text)
                .map_err(|error| SettingsError::key(key, source, format!("is not usable JSON: {error}")));
        }
        match self.at(key) {
            Some(Value::Integer(_)) => text
                .trim()
                .parse()
                .map(Value::Integer)
                .map_err(|_| SettingsError::key(key, source, "must be a whole number")),
            Some(Value::Boolean(_)) => text
                .trim()
                .parse()
                .map(Value::Boolean)
                .map_err(|_| SettingsError::key(key, source, "must be true or false")),
            _ => Ok(Value::String(text)),
        }
    }

    fn refuse_to_replace_a_table(&self, key: &str, source: &Source, value: &Value) -> Result<(), SettingsError> {
        if matches!(self.at(key), Some(Value::Table(_))) && !value.is_table() {
            let problem = format!("is a section: name one of its keys ({}__…) or give a JSON object", shown(source));
            return Err(SettingsError::key(key, source, problem));
        }
        Ok(())
    }

    /// Tables are merged key by key, everything else replaces what was there.
    fn lay(&mut self, path: &str, value: Value, source: &Source) {
        if let Value::Table(table) = value {
            if !path.is_empty() {
                if !matches!(self.at(path), Some(Value::Table(_))) {
                    put(&mut self.tree, path, Value::Table(Table::new()));
                }
                self.sources.insert(path.to_owned(), source.clone());
            }
            for (key, value) in table {
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                self.lay(&path, value, source);
            }
        } else {
            put(&mut self.tree, path, value);
            self.sources.insert(path.to_owned(), source.clone());
        }
    }

    /// The value at `path`, from whichever layer.
    pub(super) fn at(&self, path: &str) -> Option<&Value> {
        let mut steps = path.split('.');
        let first = self.tree.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    }

    /// Where the value at `path` came from; a table that a variable made on the way to its own key came from that
    /// variable. For what is missing or inside a list, its nearest parent.
    pub(super) fn source(&self, path: &str) -> Source {
        if !self.sources.contains_key(path)
            && let Some(source) = self.source_below(path)
        {
            return source.clone();
        }
        let mut path = path;
        loop {
            if let Some(source) = self.sources.get(path) {
                return source.clone();
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None => return Source::Defaults,
            }
        }
    }

    fn source_below(&self, path: &str) -> Option<&Source> {
        let below = format!("{path}.");
        let (name, source) = self.sources.range(below.clone()..).next()?;
        name.starts_with(&below).then_some(source)
    }

    /// An error about the key at `path`.
    pub(super) fn error(&self, path: &str, problem: impl Into<String>) -> SettingsError {
        SettingsError::key(path, &self.source(path), problem)
    }

    /// Refuses other things where tables belong, before anything could show their value.
    pub(super) fn check_shape(&self) -> Result<(), SettingsError> {
        for (section, value) in &self.tree {
            self.must_be_table(section, value)?;
        }
        if let Some(channels) = self.at("line.channels") {
            self.must_be_table("line.channels", channels)?;
            for (name, channel) in channels.as_table().into_iter().flatten() {
                self.must_be_table(&format!("line.channels.{name}"), channel)?;
            }
        }
        let tokens = self.at("admin.tokens").and_then(Value::as_array);
        for (number, token) in tokens.into_iter().flatten().enumerate() {
            self.must_be_table(&format!("admin.tokens[{number}]"), token)?;
        }
        Ok(())
    }

    fn must_be_table(&self, path: &str, value: &Value) -> Result<(), SettingsError> {
        if value.is_table() {
            return Ok(());
        }
        Err(self.error(path, "must be a table of keys and values"))
    }

    /// The tree as settings.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, SettingsError> {
        serde_path_to_error::deserialize(Value::Table(self.tree.clone())).map_err(|error| {
            let path = error.path().to_string();
            let said = error.into_inner().to_string();
            // toml's Display may add "in `key`" on a line of its own; the path says that already.
            let problem = said.lines().next().unwrap_or("can't be used").to_owned();
            self.error(&path, problem)
        })
    }
}

fn shown(source: &Source) -> String {
    match source {
        Source::Variable(name) => name.clone(),
        Source::Defaults | Source::File(_) => source.to_string(),
    }
}

fn put(tree: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            tree.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let child = tree.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if !child.is_table() {
                *child = Value::Table(Table::new());
            }
            if let Value::Table(table) = child {
                put(table, rest, value);
            }
        }
    }
}

fn parse(path: &str, text: &str) -> Result<Table, SettingsError> {
    text.parse::<Table>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.get(..start).map_or(1, |before| before.matches('\n').count() + 1);
        // Only the parser's own words: its Display shows the line, which may hold a secret.
        SettingsError::Syntax { path: path.to_owned(), line, problem: error.message().to_owned() }
    })
}
