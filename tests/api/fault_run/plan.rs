//! What a run decides, from its seed alone.

use fastrand::Rng;

/// How large a run is.
pub struct Form {
    pub participants: usize,
    pub stamps: usize,
    /// Acquisitions at once.
    pub wave: usize,
    /// Requests to push between two strikes, at most.
    pushes: u64,
    /// What strikes, how often; waves that are left over are calm.
    strikes: &'static [(Strike, usize)],
}

/// What goes wrong in a wave, besides LINE and the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// Nothing more.
    Calm,
    /// Every iterator of the stream expires.
    ExpireIterators,
    /// SIGKILL for one of the consumers, whatever it does.
    KillAny,
    /// SIGKILL for the consumer that holds the shard with the most unsent notices.
    KillHolder,
    /// SIGKILL for the server.
    KillServer,
    /// SIGSTOP for that consumer, until another has all its shards; then SIGCONT.
    PauseHolder,
    /// A shard is closed and has one child.
    RollOver,
    /// A shard is closed and has two children.
    Split,
}

/// Some acquisitions and a strike among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wave {
    /// Participant and stamp, by number; no participant twice.
    pub steps: Vec<(usize, usize)>,
    pub strike: Strike,
    /// Strikes when LINE was asked for so many more pushes: in the middle of the work, whatever that is just then.
    pub after: u64,
    /// Which of several, where the strike leaves a choice.
    pub choice: usize,
}

impl Form {
    /// In every `cargo test`.
    pub const SHORT: Self = Self {
        participants: 20,
        stamps: 10,
        wave: 20,
        pushes: 15,
        strikes: &[
            (Strike::ExpireIterators, 1),
            (Strike::KillAny, 2),
            (Strike::KillHolder, 3),
            (Strike::KillServer, 1),
            (Strike::PauseHolder, 1),
            (Strike::Split, 1),
        ],
    };

    /// The proof.
    pub const LONG: Self = Self {
        participants: 200,
        stamps: 10,
        wave: 40,
        pushes: 80,
        strikes: &[
            (Strike::ExpireIterators, 2),
            (Strike::KillAny, 14),
            (Strike::KillHolder, 20),
            (Strike::KillServer, 3),
            (Strike::PauseHolder, 8),
            (Strike::RollOver, 1),
            (Strike::Split, 2),
        ],
    };

    /// All waves. Each participant acquires every stamp, in an order of their own, one a round.
    pub fn waves(&self, seed: u64) -> Vec<Wave> {
        let mut chance = Rng::with_seed(seed);
        let orders: Vec<Vec<usize>> = (0..self.participants).map(|_| shuffled(&mut chance, self.stamps)).collect();
        let rounds = (0..self.stamps).map(|round| {
            let people = shuffled(&mut chance, self.participants);
            people.into_iter().map(|person| (person, orders[person][round])).collect::<Vec<_>>()
        });
        let rounds: Vec<_> = rounds.collect();
        let parts: Vec<_> = rounds.iter().flat_map(|steps| steps.chunks(self.wave)).map(<[_]>::to_vec).collect();
        let mut strikes = self.strikes.iter().flat_map(|(strike, times)| vec![*strike; *times]).collect::<Vec<_>>();
        assert!(strikes.len() <= parts.len(), "a strike a wave");
        strikes.resize(parts.len(), Strike::Calm);
        chance.shuffle(&mut strikes);
        let wave = |(steps, strike): (Vec<(usize, usize)>, Strike)| {
            let after = chance.u64(1..=self.pushes);
            Wave { steps, strike, after, choice: chance.usize(0..1000) }
        };
        parts.into_iter().zip(strikes).map(wave).collect()
    }
}

fn shuffled(chance: &mut Rng, many: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..many).collect();
    chance.shuffle(&mut all);
    all
}

#[test]
fn the_same_seed_decides_the_same() {
    assert_eq!(Form::LONG.waves(1), Form::LONG.waves(1));
    assert_ne!(Form::LONG.waves(1), Form::LONG.waves(2));
}

#[test]
fn each_participant_acquires_every_stamp_once() {
    let waves = Form::LONG.waves(3);
    let mut steps: Vec<_> = waves.iter().flat_map(|wave| wave.steps.clone()).collect();
    assert_eq!(steps.len(), 2000);
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(steps.len(), 2000);
    assert!(waves.iter().all(|wave| wave.steps.len() == Form::LONG.wave), "no wave meets a participant twice");
}
