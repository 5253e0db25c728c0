//! How a table is read as labelled rows, as typed.

use clap::Args;

/// Which columns are what.
#[derive(Debug, Default, Args)]
pub(crate) struct TableChoice {
    /// DATA is a table (CSV, TSV), and this column has the labels: numbers or words
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Columns of the table that are no features
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// The table has no header: its columns are named 1, 2, ...
    #[arg(long)]
    pub(crate) no_header: bool,
}
