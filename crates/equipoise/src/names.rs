//! Values that have names in files and options: from text to the value, and back, written once.
//!
//! - Given: an enum whose values are listed with their names ([`Named`]); a text.
//! - Returns: the value, or [`UnknownName`] with the names that are known.
//! - Must not know: files, options, which name the text may have meant.
//!
//! ```
//! use equipoise::{Method, Named};
//! assert_eq!("pairs".parse(), Ok(Method::Pairs));
//! assert_eq!(Method::Pairs.to_string(), "pairs");
//! let unknown = "pair".parse::<Method>().unwrap_err();
//! assert!(unknown.to_string().starts_with("unknown method \"pair\"; known: auto, pairs, "));
//! assert_eq!(unknown.known, Method::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
//! ```

/// A type whose values have names in files and options; [`named!`](crate::named) implements it.
pub trait Named: Copy + PartialEq + 'static {
    /// What a value is called in messages, such as `method`.
    const WHAT: &'static str;
    /// Every value with its name.
    const ALL: &'static [(&'static str, Self)];

    /// The name of this value.
    fn name_of(self) -> &'static str {
        Self::ALL.iter().find(|(_, listed)| *listed == self).map_or("unnamed", |(name, _)| name)
    }

    /// The value of a name.
    fn of_name(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        found.ok_or_else(|| UnknownName {
            what: Self::WHAT,
            text: text.to_owned(),
            known: Self::ALL.iter().map(|(name, _)| *name).collect(),
            more: "",
        })
    }
}

/// A text that names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {text:?}; known: {}{more}", known.join(", "))]
#[non_exhaustive]
pub struct UnknownName {
    /// What it should have named, such as `method`.
    pub what: &'static str,
    /// The text found.
    pub text: String,
    /// The names that are known.
    pub known: Vec<&'static str>,
    /// What else may be written, in words to be appended; often nothing.
    pub more: &'static str,
}

/// Gives the values of an enum their names: [`Named`], `name()`, `Display` and `FromStr`.
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Colour { Red, Green }
/// equipoise::named!(Colour, "colour": "red" => Colour::Red, "green" => Colour::Green);
/// assert_eq!("green".parse(), Ok(Colour::Green));
/// assert_eq!((Colour::Red.name(), Colour::Red.to_string().as_str()), ("red", "red"));
/// ```
#[macro_export]
macro_rules! named {
    ($type:ty, $what:literal: $($name:literal => $value:expr),+ $(,)?) => {
        impl $crate::Named for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [(&'static str, Self)] = &[$(($name, $value)),+];
        }

        impl $type {
            /// Its name in files and options.
            pub fn name(self) -> &'static str {
                $crate::Named::name_of(self)
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::UnknownName> {
                $crate::Named::of_name(text)
            }
        }
    };
}
