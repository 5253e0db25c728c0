//! The most memory that this process has had, as the system says.

use std::fs;

/// Bytes: `VmHWM` of `/proc/self/status`; nothing where there is no such file.
pub(crate) fn peak() -> Option<u64> {
    parse(&fs::read_to_string("/proc/self/status").ok()?)
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_line_is_found_and_counted_in_bytes() {
        assert_eq!(parse("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2 << 20));
        assert_eq!(parse("Name:\tx\n"), None);
    }
}
