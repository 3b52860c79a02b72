//! Makes tokens: a good one, with up to three changes, each drawn by the seed.

use super::super::*;

/// A token, and what was done to it.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) changes: Vec<&'static str>,
}

/// What is to be signed, by whom, and what becomes of it afterwards.
pub(super) struct Draft {
    header: Value,
    claims: Value,
    signed_by: SignedBy,
    damage: Option<Damage>,
    /// Put into the claims' text as it is: a member twice, for example.
    raw_member: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum SignedBy {
    First,
    Second,
    /// A key that LINE doesn't publish.
    Forger,
    /// The first key, in the form that X.509 uses (DER).
    FirstInDer,
    LoginSecret,
    EmptySecret,
    /// The first key's public half, taken for a secret.
    PublicKey,
    NoKey,
}

#[derive(Clone, Copy)]
enum Damage {
    FlipBit,
    DropEnd,
    Pad,
    ExtraPart,
    DropPart(usize),
    Space,
    StandardAlphabet,
    OtherClaims,
    NotUtf8,
}

pub(super) type Change = fn(&mut Draft, &mut Forge);

/// Each change by name.
pub(super) const CHANGES: &[(&str, Change)] = &[
    ("alg", |draft, forge| draft.header["alg"] = forge.one_of(&algorithms())),
    ("alg is missing", |draft, _| drop(remove(&mut draft.header, "alg"))),
    ("kid", |draft, forge| draft.header["kid"] = forge.one_of(&key_ids())),
    ("kid is missing", |draft, _| drop(remove(&mut draft.header, "kid"))),
    ("header member", |draft, forge| {
        let name = forge.one_of(&HEADER_MEMBERS);
        draft.header[name] = forge.odd_value();
    }),
    ("crit", |draft, forge| {
        draft.header["crit"] = forge.one_of(&[json!([]), json!(["exp"]), json!(["b64"]), json!(null)]);
    }),
    ("b64", |draft, forge| draft.header["b64"] = forge.one_of(&[json!(false), json!(true)])),
    ("claim", |draft, forge| {
        let name = forge.one_of(&CLAIMS);
        draft.claims[name] = forge.odd_value();
    }),
    ("claim is missing", |draft, forge| drop(remove(&mut draft.claims, forge.one_of(&CLAIMS)))),
    ("claim is a list", |draft, forge| {
        let name = forge.one_of(&CLAIMS);
        draft.claims[name] = json!([draft.claims[name], "https://elsewhere.example"]);
    }),
    ("time", |draft, forge| {
        let (name, seconds) = (forge.one_of(&["exp", "iat", "nbf"]), forge.one_of(&SECONDS));
        draft.claims[name] = json!(forge.now + seconds);
    }),
    ("fraction of a second", |draft, forge| {
        let name = forge.one_of(&["exp", "iat"]);
        #[allow(clippy::cast_precision_loss)] // A time of this century is far below 2^52.
        let seconds = forge.now as f64 + 1_000.5;
        draft.claims[name] = json!(seconds);
    }),
    ("huge time", |draft, forge| draft.claims[forge.one_of(&["exp", "iat"])] = json!(u64::MAX)),
    ("audience", |draft, forge| draft.claims["aud"] = json!(forge.one_of(&[OURS, "1234567899", OTHER_CHANNEL, ""]))),
    ("issuer", |draft, forge| {
        draft.claims["iss"] =
            json!(forge.one_of(&["https://access.line.me/", "https://ACCESS.line.me", "access.line.me"]));
    }),
    ("subject", |draft, forge| {
        draft.claims["sub"] = json!(forge.one_of(&["", "hanako", "U0123", "u0123456789abcdef0123456789abcdef"]));
    }),
    ("claim of others", |draft, forge| draft.claims["amr"] = forge.odd_value()),
    ("claim twice", |draft, forge| {
        draft.raw_member = Some(forge.one_of(&[
            r#""sub":"Ufedcba9876543210fedcba9876543210""#,
            r#""exp":9999999999"#,
            r#""name":"太郎""#,
        ]));
    }),
    ("signer", |draft, forge| draft.signed_by = forge.one_of(&SIGNERS)),
    ("damage", |draft, forge| draft.damage = Some(forge.one_of(&DAMAGES))),
    ("web login", |draft, _| {
        draft.header = json!({"alg": "HS256", "typ": "JWT"});
        draft.signed_by = SignedBy::LoginSecret;
    }),
    ("second key", |draft, _| {
        draft.header["kid"] = json!("key-2");
        draft.signed_by = SignedBy::Second;
    }),
];

const CLAIMS: [&str; 5] = ["iss", "sub", "aud", "exp", "iat"];
const HEADER_MEMBERS: [&str; 8] = ["typ", "cty", "jku", "jwk", "x5u", "x5c", "x5t", "unknown"];
/// From now; none near the edges, which the library's clock would pass meanwhile (`what_it_says` has the edges).
const SECONDS: [i64; 6] = [-100_000, -3_600, -900, 900, 3_600, 100_000];
const SIGNERS: [SignedBy; 8] = [
    SignedBy::First,
    SignedBy::Second,
    SignedBy::Forger,
    SignedBy::FirstInDer,
    SignedBy::LoginSecret,
    SignedBy::EmptySecret,
    SignedBy::PublicKey,
    SignedBy::NoKey,
];
const DAMAGES: [Damage; 11] = [
    Damage::FlipBit,
    Damage::DropEnd,
    Damage::Pad,
    Damage::ExtraPart,
    Damage::DropPart(0),
    Damage::DropPart(1),
    Damage::DropPart(2),
    Damage::Space,
    Damage::StandardAlphabet,
    Damage::OtherClaims,
    Damage::NotUtf8,
];

fn algorithms() -> [Value; 12] {
    let names = ["ES256", "HS256", "none", "None", "es256", "ES384", "RS256", "PS256", "EdDSA", ""];
    let mut algorithms = [json!(256), Value::Null].to_vec();
    algorithms.extend(names.map(Value::from));
    algorithms.try_into().unwrap()
}

fn key_ids() -> [Value; 7] {
    [json!("key-1"), json!("key-2"), json!("key-3"), json!(""), json!(1), json!(["key-1"]), Value::Null]
}

fn remove(object: &mut Value, name: &str) -> Option<Value> {
    object.as_object_mut().unwrap().remove(name)
}

/// The seed's hand, and the keys that tokens are signed with.
pub(super) struct Forge {
    chance: fastrand::Rng,
    first: Signer,
    second: Signer,
    forger: Signer,
    now: i64,
}

impl Forge {
    pub(super) fn new(seed: u64, first: Signer, second: Signer, now: i64) -> Self {
        Self { chance: fastrand::Rng::with_seed(seed), first, second, forger: Signer::new("key-1"), now }
    }

    /// The next token.
    pub(super) fn token(&mut self) -> Token {
        let mut claims = hanako();
        claims["iat"] = json!(self.now - 60);
        claims["exp"] = json!(self.now + 3_540);
        let mut draft =
            Draft { header: self.first.header(), claims, signed_by: SignedBy::First, damage: None, raw_member: None };
        let mut changes = Vec::new();
        for _ in 0..self.chance.usize(0..=3) {
            let (name, change) = CHANGES[self.chance.usize(0..CHANGES.len())];
            change(&mut draft, self);
            changes.push(name);
        }
        Token { text: self.made(&draft), changes }
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.chance.usize(0..choices.len())].clone()
    }

    /// A value of any JSON type.
    fn odd_value(&mut self) -> Value {
        let values = [
            Value::Null,
            json!(true),
            json!(0),
            json!(-1.5),
            json!(""),
            json!("text"),
            json!([]),
            json!(["a", 1]),
            json!({"a": {}}),
        ];
        self.one_of(&values)
    }

    fn made(&mut self, draft: &Draft) -> String {
        let mut claims = draft.claims.to_string();
        if let Some(member) = draft.raw_member {
            claims.insert_str(1, &format!("{member},"));
        }
        let message = format!("{}.{}", encoded(draft.header.to_string()), encoded(claims));
        let token = self.signed(&message, draft.signed_by);
        match draft.damage {
            Some(damage) => self.damaged(&token, damage),
            None => token,
        }
    }

    fn signed(&self, message: &str, by: SignedBy) -> String {
        match by {
            SignedBy::First => self.first.signs(message, &ECDSA_P256_SHA256_FIXED_SIGNING),
            SignedBy::FirstInDer => self.first.signs(message, &ECDSA_P256_SHA256_ASN1_SIGNING),
            SignedBy::Second => self.second.signs(message, &ECDSA_P256_SHA256_FIXED_SIGNING),
            SignedBy::Forger => self.forger.signs(message, &ECDSA_P256_SHA256_FIXED_SIGNING),
            SignedBy::LoginSecret => signed_with(message, LOGIN_SECRET.as_bytes()),
            SignedBy::EmptySecret => signed_with(message, b""),
            SignedBy::PublicKey => signed_with(message, &self.first.point),
            SignedBy::NoKey => format!("{message}."),
        }
    }

    fn damaged(&mut self, token: &str, damage: Damage) -> String {
        let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
        let index = self.chance.usize(0..parts.len());
        match damage {
            Damage::FlipBit => parts[index] = self.flipped(&parts[index]),
            Damage::DropEnd => drop(parts[index].pop()),
            Damage::Pad => parts[index].push('='),
            Damage::ExtraPart => parts.push(parts[index].clone()),
            Damage::DropPart(which) => drop(parts.remove(which)),
            Damage::Space => parts[index].insert(0, ' '),
            Damage::StandardAlphabet => parts[index] = parts[index].replace('-', "+").replace('_', "/"),
            Damage::OtherClaims => {
                parts[1] = encoded(hanako_with("sub", json!("Ufedcba9876543210fedcba9876543210")).to_string());
            }
            Damage::NotUtf8 => parts[1] = encoded(b"{\"sub\":\"\xff\"}"),
        }
        parts.join(".")
    }

    fn flipped(&mut self, part: &str) -> String {
        let mut bytes = URL_SAFE_NO_PAD.decode(part).unwrap();
        if !bytes.is_empty() {
            let bit = self.chance.usize(0..bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        encoded(bytes)
    }
}
