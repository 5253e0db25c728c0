//! What is shown of the records of `cluster`, and which claims they test.

use equipoise_report::{
    Axis, Cell as TableCell, Chart, Figure, Mark, Section, Series, Table, Verdict, colours,
};

use super::cluster::{
    CHECKED, COLUMNS, ENTRIES, GIGABITS, LENGTH, PAIR_COLUMNS, PAIRS, RANKS, ROWS, SMALL, TRAININGS,
};
use super::{short, those};
use crate::cell::Record;
use crate::claims::Claim;
use crate::cluster::Seconds;

/// Efficiency below which a cluster is no longer put to use.
const HALF: f64 = 0.5;

pub(super) fn section(records: &[&Record], command: &str) -> Section {
    let section = Section::new("Beyond one machine").text(
        "A model of machines: a message of b bytes takes 2 us and b over the bandwidth of the network; a machine reads 80 GB/s and \
         makes 3e11 multiplications a second. In a troubled network one piece of work in a hundred takes twice as long, messages are \
         late by as much as they take, and one in a million is sent again after 10 ms. Calls are those that a training on ranks in \
         this process made.",
    );
    pairs(sums(scaling(checks(section, records), records, command), records, command), records)
}

/// The model beside the ledger.
fn checks(section: Section, records: &[&Record]) -> Section {
    let columns = [
        "training",
        "ranks",
        "Newton steps",
        "passes",
        "calls",
        "bytes of all ranks",
        "by the model",
        "by the model from 2 ranks",
        "seconds, model over seen",
    ];
    let mut table = Table::new("The model beside what ranks did", columns);
    for training in TRAININGS {
        let Some(record) = those(records, &[("training", training)]).first().copied() else { continue };
        for ranks in CHECKED {
            let own = || record.outcome.rows.iter().filter(|row| row[0] == ranks as f64);
            let sum = |column: usize| own().map(|row| row[column]).sum::<f64>();
            let Some(first) = own().next() else { continue };
            let value = |name: &str| short(record.outcome.get(&format!("{name}-{ranks}")));
            table = table.row([
                TableCell::from(training),
                TableCell::Number(ranks.to_string()),
                TableCell::Number(value("steps")),
                TableCell::Number(value("passes")),
                TableCell::Number(short(first[2])),
                TableCell::Number(format!("{:.0}", sum(3))),
                TableCell::Number(format!("{:.0}", sum(4))),
                TableCell::Number(format!("{:.0}", sum(5))),
                TableCell::Number(short(first[7] / first[6])),
            ]);
        }
    }
    if table.is_empty() { section } else { section.table(table) }
}

/// One prediction of many.
#[derive(Clone, Copy)]
struct Predicted<'r>(&'r [f64]);

impl Predicted<'_> {
    fn is(self, columns: usize, gigabits: f64, is_troubled: bool, is_weak: bool) -> bool {
        let flag = |holds| f64::from(u8::from(holds));
        self.0[..4] == [columns as f64, gigabits, flag(is_troubled), flag(is_weak)]
    }
    fn ranks(self) -> f64 {
        self.0[4]
    }
    fn efficiency(self) -> f64 {
        self.0[6]
    }
    fn seconds(self) -> Seconds {
        let [all, work, led, latency, bytes] = [5, 7, 8, 9, 10].map(|column| self.0[column]);
        Seconds { all, work, led, latency, bytes }
    }
    fn sent(self) -> f64 {
        self.0[12]
    }
    fn passes(self) -> f64 {
        self.0.get(13).copied().unwrap_or(f64::NAN)
    }
    /// Of which training its counts are.
    fn training(self) -> f64 {
        self.0.get(14).copied().unwrap_or(0.0)
    }
}

/// The trainings whose counts were taken for so many columns.
fn trainings(all: &[Predicted<'_>], columns: usize) -> Vec<f64> {
    let mut found: Vec<f64> =
        all.iter().filter(|one| one.0[0] == columns as f64).map(|one| one.training()).collect();
    found.dedup();
    found
}

fn scaling(mut section: Section, records: &[&Record], command: &str) -> Section {
    let Some(record) = those(records, &[("kind", "predict")]).first().copied() else { return section };
    let all: Vec<Predicted<'_>> = record.outcome.rows.iter().map(|row| Predicted(row)).collect();
    for (is_weak, name, title) in [
        (false, "strong", format!("Strong scaling: {ROWS:.0e} rows, however many ranks")),
        (true, "weak", "Weak scaling: about a million rows a rank".to_owned()),
    ] {
        let mut columns = ["columns", "passes", "network", "sent by a rank"].map(str::to_owned).to_vec();
        columns.extend(RANKS.iter().map(|ranks| format!("{ranks} ranks")));
        columns.extend(["troubled, 1024".to_owned(), "saturates first".to_owned()]);
        let mut table = Table::new(format!("{title}: efficiency"), columns);
        for d in COLUMNS {
            for training in trainings(&all, d) {
                for gigabits in GIGABITS {
                    let one = |is_troubled| {
                        let of = all.iter().copied().filter(move |one| one.training() == training);
                        of.filter(move |one| one.is(d, gigabits, is_troubled, is_weak))
                    };
                    let (found, troubled) = (one(false).collect::<Vec<_>>(), one(true).next_back());
                    let (Some(last), Some(troubled)) = (found.last(), troubled) else { continue };
                    let half = found.iter().find(|one| one.efficiency() < HALF);
                    let what = last.seconds().saturates();
                    let first = half.map_or_else(
                        || format!("nothing up to {} ranks (next: {what})", last.ranks()),
                        |one| format!("{} at {} ranks", one.seconds().saturates(), one.ranks()),
                    );
                    let mut cells = vec![
                        TableCell::Number(d.to_string()),
                        TableCell::Number(short(last.passes())),
                        TableCell::from(format!("{gigabits} Gb/s")),
                        TableCell::Number(format!("{} GB", short(last.sent() / 1e9))),
                    ];
                    cells.extend(
                        found.iter().map(|one| TableCell::Number(format!("{:.2}", one.efficiency()))),
                    );
                    cells.push(TableCell::Number(format!("{:.2}", troubled.efficiency())));
                    cells.push(TableCell::from(first));
                    table = table.row(cells);
                }
            }
        }
        section = section.table(table);
        for gigabits in GIGABITS {
            let ticks = RANKS.iter().map(|&ranks| (ranks as f64, ranks.to_string())).collect();
            let y = Axis::linear("efficiency").with_range(0.0, 1.05);
            let mut chart = Chart::new("", Axis::log("ranks").with_ticks(ticks), y);
            for (k, d) in COLUMNS.into_iter().enumerate() {
                // The training that leaves ranks least to do between calls.
                let training = trainings(&all, d).last().copied().unwrap_or(0.0);
                for (is_troubled, mark) in [(false, Mark::Line), (true, Mark::Dashes)] {
                    let of = all.iter().filter(|one| one.training() == training);
                    let of = of.filter(|one| one.is(d, gigabits, is_troubled, is_weak));
                    let points: Vec<(f64, f64)> = of.map(|one| (one.ranks(), one.efficiency())).collect();
                    let series = Series::new(mark, colours::nth(k), points);
                    let name = format!("{d} columns");
                    chart = chart.with(if is_troubled { series } else { series.named(name) });
                }
            }
            let figure =
                Figure::new(&format!("cluster-{name}-{gigabits}"), format!("{title}, {gigabits} Gb/s"), chart)
                    .alt(format!("Efficiency against ranks with a network of {gigabits} Gb/s, {name} scaling, for four numbers of columns."))
                    .caption(format!("{ENTRIES} entries a row; of several trainings the one with fewest passes. Dashed: a troubled network."))
                    .command(command)
                    .with_log_x();
            section = section.figure(figure);
        }
    }
    section
}

/// One sum on many ranks.
fn sums(section: Section, records: &[&Record], command: &str) -> Section {
    let Some(record) = those(records, &[("kind", "sum")]).first().copied() else { return section };
    let milliseconds = |column: &str| -> Vec<(f64, f64)> {
        record.outcome.points("ranks", column).into_iter().map(|(ranks, s)| (ranks, 1e3 * s)).collect()
    };
    let mut chart = Chart::new("", Axis::log("ranks"), Axis::log("milliseconds"));
    for (k, name) in ["quiet", "troubled"].into_iter().enumerate() {
        chart = chart.with(
            Series::new(Mark::Line, colours::nth(k), milliseconds(name)).named(format!("{name} network")),
        );
    }
    section.figure(
        Figure::new("cluster-sum", format!("One sum of {LENGTH} numbers after a millisecond of work"), chart)
            .alt("Milliseconds of a sum against the number of ranks, in a quiet and in a troubled network.")
            .caption("100 Gb/s. From some hundred ranks on somebody is always held up.")
            .command(command)
            .with_log_x(),
    )
}

/// Pairs on graphs.
fn pairs(section: Section, records: &[&Record]) -> Section {
    let columns = [
        "graph",
        "outstanding",
        "steps",
        "network",
        "nodes",
        "exchanges a second",
        "exchanges a node",
        "error left",
        "busiest node works",
        "most messages waiting",
        "bytes an exchange",
    ];
    let caption = format!("Pairs that exchange {PAIR_COLUMNS} numbers, until {SMALL} of the error is left");
    let mut table = Table::new(caption, columns);
    for one in PAIRS {
        let Some(record) = of_pairs(records, one) else { continue };
        let (graph, outstanding, is_damped, is_troubled) = one;
        let (outcome, nodes) = (&record.outcome, record.cell.number("nodes"));
        let (updates, seconds) = (outcome.get("updates"), outcome.get("seconds"));
        let fate = outcome.words.get("fate").map_or("", String::as_str);
        let a_node = short(updates / nodes);
        table = table.row([
            TableCell::from(graph),
            TableCell::Number(outstanding.to_string()),
            TableCell::from(if is_damped { "damped by 1/W" } else { "full" }),
            TableCell::from(if is_troubled { "troubled, 0.1 % lost" } else { "quiet" }),
            TableCell::Number(short(nodes)),
            TableCell::Number(short(updates / seconds)),
            TableCell::Number(if fate == "reached" { a_node } else { format!("{fate} in {a_node}") }),
            TableCell::Number(short(outcome.get("left"))),
            TableCell::Number(format!("{:.0} %", 100.0 * outcome.get("busiest"))),
            TableCell::Number(short(outcome.get("queue"))),
            TableCell::Number(short(outcome.get("bytes") / updates)),
        ]);
    }
    if table.is_empty() { section } else { section.table(table) }
}

fn of_pairs<'r>(
    records: &[&'r Record],
    (graph, outstanding, is_damped, is_troubled): (&str, usize, bool, bool),
) -> Option<&'r Record> {
    let [outstanding, damped, troubled] =
        [outstanding.to_string(), is_damped.to_string(), is_troubled.to_string()];
    let wanted = [
        ("graph", graph),
        ("outstanding", outstanding.as_str()),
        ("damped", damped.as_str()),
        ("troubled", troubled.as_str()),
    ];
    those(records, &wanted).first().copied()
}

pub(super) fn claims(records: &[&Record]) -> Vec<Claim> {
    let mut bytes = Claim::new(
        "cluster-bytes",
        "Nothing is said of machines that share the rows.",
        "Bytes that the model of a cluster sends for the calls of a training on 2 and 4 ranks, against those that ranks sent. Beyond if none \
         is missing and none too many.",
    );
    let checks: Vec<f64> =
        those(records, &[("kind", "check")]).iter().map(|record| record.outcome.get("off")).collect();
    if !checks.is_empty() {
        let off = checks.iter().copied().fold(0.0, f64::max);
        let verdict = if off == 0.0 { Verdict::Beyond } else { Verdict::NotReproduced };
        bytes = bytes.with(verdict, format!("{} bytes off, in {} trainings", short(off), checks.len()));
    }
    let mut sums = Claim::new(
        "cluster-pairs",
        "Pairs suit networks, where nodes exchange with their neighbours alone.",
        "10,000 nodes that exchange at their own pace, with requests outstanding, late and lost messages. Reproduced if the sum of all \
         with what is in flight is 0 whenever it is looked at, and 0 when all is drained, and a random graph of degree 6 comes to 1 % of the \
         error.",
    );
    let runs: Vec<&Record> = PAIRS.iter().filter_map(|&one| of_pairs(records, one)).collect();
    if let Some(regular) = runs.first() {
        let exact = runs.iter().all(|run| run.outcome.get("off") == 0.0 && run.outcome.get("drained") == 0.0);
        let is_reached = regular.outcome.words.get("fate").is_some_and(|fate| fate == "reached");
        let messages: f64 = runs.iter().map(|run| run.outcome.get("messages")).sum();
        let a_node = regular.outcome.get("updates") / regular.cell.number("nodes");
        let found = format!(
            "sums {} over {} messages; {} exchanges a node on the random graph",
            if exact { "exact" } else { "**not exact**" },
            short(messages),
            short(a_node)
        );
        sums = sums.judged(exact && is_reached, found);
    }
    let mut damping = Claim::new(
        "cluster-damping",
        "Nodes need not wait for each other.",
        "Four requests outstanding at every node of a random graph: full steps, and steps divided by four. Beyond if the divided steps \
         come to 1 % of the error and full steps do not.",
    );
    let [divided, full] = [PAIRS[4], PAIRS[5]].map(|one| of_pairs(records, one));
    if let (Some(divided), Some(full)) = (divided, full) {
        let fate = |record: &Record| record.outcome.words.get("fate").cloned().unwrap_or_default();
        let [divided, full] = [fate(divided), fate(full)];
        let is_beyond = divided == "reached" && full != "reached";
        let verdict = if is_beyond { Verdict::Beyond } else { Verdict::NotReproduced };
        damping = damping.with(verdict, format!("divided {divided}, full {full}"));
    }
    vec![bytes, sums, damping]
}
