//! A process beside this one: its processor time and its memory, as Linux reports them (proc(5), `clock_getcpuclockid(3)`).

use std::{
    fs,
    process::{Child, Command},
    time::Duration,
};

use anyhow::Context;
use nix::{time::clock_getcpuclockid, unistd::Pid};

/// A running process. Dropped, it is killed.
pub struct Process(Child);

/// What a process keeps in memory, in kB.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Now.
    pub resident: u64,
    /// The most so far, or since [`Process::forget_peak`].
    pub peak: u64,
}

impl Process {
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("{} can't be started", command.get_program().display()))?))
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Its processor time so far, all threads, user and system.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        let clock = clock_getcpuclockid(Pid::from_raw(self.0.id().cast_signed()))?;
        Ok(clock.now()?.into())
    }

    pub fn memory(&self) -> anyhow::Result<Memory> {
        let status = self.read("status")?;
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next()?.parse().ok());
            number.with_context(|| format!("no {name} in /proc/{}/status", self.0.id()))
        };
        Ok(Memory { resident: of("VmRSS")?, peak: of("VmHWM")? })
    }

    /// Begins the peak anew (5: "reset the peak resident set size").
    pub fn forget_peak(&self) -> anyhow::Result<()> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.0.id()), "5")?)
    }

    fn read(&self, file: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.0.id());
        fs::read_to_string(&path).context(path)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
