//! What was wanted, beside what was reached.

use super::groups::{Group, Groups};
use crate::table::figure;
use crate::verdict::{Tally, Verdict};

/// Seconds from which a fit is long enough to gain from several threads.
const LONG: f64 = 0.1;
/// What two medians of the same thing may differ by.
const NOISE: f64 = 0.05;

/// Every line.
pub(super) fn verdicts(groups: &Groups) -> Vec<Verdict> {
    let mut lines = tree(groups);
    for delay in [20, 0] {
        star(groups, delay, &mut lines);
    }
    for set in ["a7a", "w8a"] {
        let most = groups.of("svm-pairs").filter(|group| group.problem == set && group.locking == "none");
        let most = most.max_by_key(|group| group.threads);
        let what = at(&format!("random pairs of {set}, no locks, over one thread"), most);
        lines.push(Verdict::times(what, 8.0, most.and_then(|group| groups.speedup(group))).of(tally(most)));
    }
    training(groups, &mut lines);
    lines
}

/// Updates a second as a share of the bare loop's at the same thread count.
pub(super) fn share_of_bare(groups: &Groups, group: &Group) -> Option<f64> {
    let same = |bare: &&Group| bare.problem == group.problem && bare.threads == group.threads;
    Some(group.rate? / groups.of("bare").find(same)?.rate?)
}

fn tree(groups: &Groups) -> Vec<Verdict> {
    let delayed = groups.most("full-tree", "none", 20);
    let free = groups.most("full-tree", "none", 0);
    let name = |delay: &str, what: &str, group| at(&format!("tree+ring, no locks, {delay}: {what}"), group);
    let rate = free.and_then(|group| group.rate);
    let share = free.and_then(|group| share_of_bare(groups, group));
    vec![
        Verdict::times(
            name("delay 20 µs", "over one thread", delayed),
            13.0,
            delayed.and_then(|group| groups.speedup(group)),
        )
        .of(tally(delayed)),
        Verdict::new(
            name("no delay", "updates a second", free),
            "at least 330000".into(),
            rate.map(|rate| format!("{rate:.0}")),
            rate.map(|rate| rate >= 330_000.0),
        )
        .of(tally(free)),
        Verdict::new(
            name("no delay", "share of the bare loop", free),
            "at least 70 %".into(),
            share.map(|share| format!("{:.0} %", 100.0 * share)),
            share.map(|share| share >= 0.7),
        )
        .of(tally(free)),
    ]
}

fn star(groups: &Groups, delay: u64, lines: &mut Vec<Verdict>) {
    let delay_words = if delay == 0 { "no delay".into() } else { format!("delay {delay} µs") };
    let cases = groups.of("full-star").filter(|group| group.locking == "none" && group.delay_us == delay);
    let (mut runs, mut good) = (0, 0);
    for group in cases {
        (runs, good) = (runs + group.runs, good + group.ended_well);
    }
    let known = runs > 0;
    lines.push(Verdict::new(
        format!("star+ring, no locks, {delay_words}: target reached at every thread count"),
        "every run".into(),
        known.then(|| format!("{good} of {runs} runs")),
        known.then_some(good == runs),
    ));
    let most = groups.most("full-star", "none", delay);
    let seconds = |group: Option<&Group>| group.and_then(|group| group.seconds);
    let over = |other: Option<&Group>| Some(seconds(other)? / seconds(most)?);
    let same = |part: &str, locking: &str| {
        groups.of(part).find(|group| {
            group.locking == locking
                && group.delay_us == delay
                && Some(group.threads) == most.map(|most| most.threads)
        })
    };
    let name = |what: &str| at(&format!("star+ring, no locks, {delay_words}: {what}"), most);
    let double = over(same("full-star", "double"));
    lines.push(Verdict::times(name("over double locking"), 2.5, double).of(tally(most)));
    let one = most.and_then(|group| groups.speedup(group));
    lines.push(Verdict::times(name("over one thread (stretch)"), 8.0, one).of(tally(most)));
    let tree = over(same("full-tree", "none"));
    let text = tree.map(|ratio| format!("{}x", figure(ratio)));
    let what = name("over tree+ring (stretch)");
    lines.push(Verdict::new(what, "above 1x".into(), text, tree.map(|ratio| ratio > 1.0)).of(tally(most)));
}

fn training(groups: &Groups, lines: &mut Vec<Verdict>) {
    for problem in groups.problems("violating") {
        let cases: Vec<&Group> = groups.of("violating").filter(|group| group.problem == problem).collect();
        let Some(most) = cases.iter().copied().max_by_key(|group| group.threads) else { continue };
        let speedup = groups.speedup(most);
        let one = groups.baseline(most).and_then(|one| one.seconds);
        let name = |what: &str, group| at(&format!("violating pairs of {problem}: {what}"), group);
        if problem.starts_with("generated") {
            lines.push(
                Verdict::times(name("over one thread", Some(most)), 6.0, speedup).of(tally(Some(most))),
            );
            continue;
        }
        if one.is_some_and(|one| one > LONG) {
            lines.push(
                Verdict::times(name("over one thread", Some(most)), 2.0, speedup).of(tally(Some(most))),
            );
        }
        let worst = cases
            .iter()
            .filter(|group| group.threads > 1)
            .filter_map(|group| Some((groups.speedup(group)?, group.threads)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let missed = cases.iter().copied().find(|group| group.reached < group.runs);
        let line = Verdict::new(
            name("never slower than one thread", None),
            format!("at least {}x at every count", 1.0 - NOISE),
            worst.map(|(ratio, threads)| format!("{}x at {threads}", figure(ratio))),
            worst.map(|(ratio, _)| ratio >= 1.0 - NOISE),
        );
        lines.push(line.of(tally(missed)));
    }
}

/// What a verdict wants to know of a case's runs.
fn tally(group: Option<&Group>) -> Option<Tally> {
    group.map(|group| Tally { runs: group.runs, reached: group.reached })
}

/// The words with the thread count, where there is one.
fn at(words: &str, group: Option<&Group>) -> String {
    group.map_or(words.to_owned(), |group| format!("{words}, {} threads", group.threads))
}

#[cfg(test)]
mod tests {
    use super::super::groups::groups_of;
    use super::*;

    fn find(groups: &Groups, what: &str) -> (String, Option<bool>) {
        let found = verdicts(groups).into_iter().find(|line| line.what.contains(what)).expect(what);
        (found.reached, found.met)
    }

    #[test]
    fn targets_are_met_missed_or_not_measured() {
        let groups = groups_of(
            "bare,p,tree+ring,none,0,15,1,3,0,1,400000,0,0,true,0,90 GB/s\n\
             full-tree,p,tree+ring,one-thread,20,1,1,100,0,1,1,0,0,true,0,target-reached\n\
             full-tree,p,tree+ring,none,20,15,1,12,2,1,1,0,0,true,0,target-reached\n\
             full-tree,p,tree+ring,none,0,15,1,5,0,1,340000,0,0,true,0,target-reached\n\
             full-star,p,star+ring,none,0,15,1,2,0,1,1,0,0,true,0,target-reached\n\
             full-star,p,star+ring,none,0,2,1,2,0,1,1,0,0,false,0,time-limit\n\
             full-star,p,star+ring,double,0,15,1,4,0,1,1,0,0,true,0,target-reached\n",
        );
        let pair = |reached: &str, met| (reached.to_owned(), met);
        assert_eq!(find(&groups, "delay 20 µs: over one thread"), pair("10.0x", Some(false)));
        assert_eq!(find(&groups, "updates a second"), pair("340000", Some(true)));
        assert_eq!(find(&groups, "share of the bare loop"), pair("85 %", Some(true)));
        assert_eq!(find(&groups, "no delay: target reached"), pair("1 of 2 runs", Some(false)));
        assert_eq!(find(&groups, "no delay: over double"), pair("2.00x", Some(false)));
        assert_eq!(find(&groups, "no delay: over tree+ring"), pair("2.50x", Some(true)));
        assert_eq!(find(&groups, "random pairs of a7a"), pair("not measured", None));
    }

    #[test]
    fn a_run_that_missed_its_target_is_not_hidden_by_a_median() {
        let groups = groups_of(
            "svm-pairs,a7a,clique,one-thread,0,1,1,18,0,1,1,0,0,true,0,target-reached\n\
             svm-pairs,a7a,clique,none,0,15,1,2,0,1,1,0,0,true,0,target-reached\n\
             svm-pairs,a7a,clique,none,0,15,2,240,0,1,1,0,0,false,0,time-limit\n",
        );
        let expected = ("9.00x (1 of 2 runs missed the target)".to_owned(), Some(false));
        assert_eq!(find(&groups, "random pairs of a7a"), expected);
    }

    #[test]
    fn short_fits_may_not_become_slower_and_long_ones_must_gain() {
        let row = |problem: &str, threads: usize, seconds: f64| {
            format!("violating,{problem},clique,none,0,{threads},1,{seconds},0,1,1,0,0,true,0,converged\n")
        };
        let rows = [row("a7a C=1", 1, 0.02), row("a7a C=1", 15, 0.03), row("w8a C=1", 1, 0.2)];
        let groups = groups_of(&(rows.concat() + &row("w8a C=1", 15, 0.08)));
        let lines = verdicts(&groups);
        let trained: Vec<_> = lines.iter().filter(|line| line.what.starts_with("violating")).collect();
        assert_eq!(trained.len(), 3, "{trained:?}");
        assert_eq!((trained[0].reached.as_str(), trained[0].met), ("0.67x at 15", Some(false)));
        assert_eq!((trained[1].reached.as_str(), trained[1].met), ("2.50x", Some(true)));
        assert_eq!(trained[2].met, Some(true));
    }
}
