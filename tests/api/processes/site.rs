//! Where a server runs in production: a DynamoDB and a LINE that are somewhere else, and an environment that names them.

use std::{path::Path, process::Command};

use stamp_rally::dev::{
    engine::{Engine, Storage},
    line::{ChannelSettings, Memory, StandIn},
};
use tempfile::TempDir;

use super::{Line, Process};
use crate::house::{RALLY, free_port};

/// A DynamoDB, a LINE, and an environment that names them.
pub struct Site {
    pub variables: Vec<(&'static str, String)>,
    pub line: Line,
    pub folder: TempDir,
    _stand_in: StandIn,
}

impl Site {
    /// With the DynamoDB at this address.
    pub fn at(dynamodb: &str) -> Self {
        let channel = ChannelSettings::new("main", "1000000001", "2000000001", "a-channel-secret");
        let stand_in = StandIn::start(free_port(), &Memory::InMemory, vec![channel]).unwrap();
        let line = Line::at(&stand_in.base_url());
        let variables = [
            ("AWS_ENDPOINT_URL", dynamodb),
            ("AWS_REGION", "ap-northeast-1"),
            ("AWS_ACCESS_KEY_ID", "local"),
            ("AWS_SECRET_ACCESS_KEY", "local"),
            // A look for a region or credentials elsewhere finds none, at once.
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0"),
            ("STAMP_RALLY__LINE__API_BASE_URL", &line.url),
            ("STAMP_RALLY__LINE__CHANNELS__MAIN__LOGIN_CHANNEL_IDS", r#"["1000000001"]"#),
            ("STAMP_RALLY__LINE__CHANNELS__MAIN__MESSAGING_CHANNEL_ID", "2000000001"),
            ("STAMP_RALLY__LINE__CHANNELS__MAIN__CHANNEL_SECRETS", r#"["a-channel-secret"]"#),
            ("STAMP_RALLY__DELIVERY__LEASE_MS", "1000"),
        ];
        let variables = variables.map(|(name, value)| (name, value.to_owned())).to_vec();
        Self { variables, line, folder: tempfile::tempdir().unwrap(), _stand_in: stand_in }
    }

    /// Sets a variable, also one that is set already.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.variables.retain(|(set, _)| *set != name);
        self.variables.push((name, value.to_owned()));
    }

    pub fn start(&self, arguments: &[&str]) -> Process {
        Process::start(self.folder.path(), arguments, &self.variables)
    }

    /// A command that comes to its end.
    pub fn run(&self, arguments: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        let run = command.args(arguments).env_clear().envs(self.variables.clone()).current_dir(self.folder.path());
        let run = run.output().unwrap();
        assert!(run.status.success(), "{arguments:?}: {run:?}");
    }

    /// The two tables and the demo rally, by the commands that an operator uses.
    pub fn set_up(&self) {
        let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().unwrap().to_owned();
        self.run(&["table", "create"]);
        let (templates, event) = (here("flex_templates"), here(&format!("config/events/{RALLY}.toml")));
        self.run(&["event", "apply", "--templates", &templates, &event]);
    }
}

pub fn engine() -> Engine {
    Engine::start(free_port(), Storage::Memory).unwrap()
}

/// Where a server that was just started answers.
pub async fn address(server: &mut Process) -> String {
    let line = server.logs("serving").await;
    let (_, rest) = line.split_once("http.bind=").unwrap();
    format!("http://{}", rest.split_whitespace().next().unwrap())
}
