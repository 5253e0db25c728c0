//! Traits for what lies in a box: every method asks what is inside.

/// Methods of a trait by their signatures alone.
macro_rules! forward {
    ($(fn $name:ident(&self $(, $arg:ident: $type:ty)*) $(-> $out:ty)?;)*) => {
        $(#[inline]
        fn $name(&self $(, $arg: $type)*) $(-> $out)? {
            (**self).$name($($arg),*)
        })*
    };
}

pub(crate) use forward;
