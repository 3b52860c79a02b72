//! Enums whose variants have one word each: in texts, keys and metrics.

/// Makes such an enum, with all of its variants (`ALL`) and the word of each (`as_str`, `Display`).
macro_rules! worded {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, derive_more::Display, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[display("{}", self.as_str())]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns its word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

pub(crate) use worded;
