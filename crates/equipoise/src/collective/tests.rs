//! Sums in the order of the ranks, and ranks that have come apart.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;

/// Numbers of a rank whose sums depend on the order of the terms.
fn numbers(rank: usize, length: usize) -> Vec<f64> {
    (0..length).map(|k| 0.1 / (1.0 + k as f64) * 3f64.powf(rank as f64 * 9.0 - 11.0)).collect()
}

#[test]
fn sums_are_added_up_in_the_order_of_the_ranks() {
    for ranks in 1..6 {
        for length in [0, 1, IN_FRAME, IN_FRAME + 1, SHORT_SUM, SHORT_SUM + 1, 1001] {
            let mut expected = numbers(0, length);
            for rank in 1..ranks {
                expected.iter_mut().zip(numbers(rank, length)).for_each(|(sum, number)| *sum += number);
            }
            let sums = Threads::run(ranks, |world| {
                let mut own = numbers(world.rank(), length);
                world.sum(&mut own).map(|()| own)
            });
            assert!(sums.into_iter().all(|sum| sum.as_ref() == Ok(&expected)), "{ranks} ranks, {length}");
        }
    }
}

#[test]
fn the_rest_follows() {
    let all = Threads::run(3, |world| -> Result<_> {
        let rank = world.rank();
        let mut led = vec![rank as f64; 20];
        world.lead(&mut led)?;
        let lists = world.lists(&vec![rank as f64; rank])?;
        let texts = world.texts(if rank == 1 { "of rank 1" } else { "" })?;
        world.agree(None)?;
        Ok((led, lists, texts, world.largest(-(rank as f64))?, world.ledger().traffic().calls))
    });
    for found in all {
        let (led, lists, texts, largest, calls) = found.expect("all make the same calls");
        assert_eq!((led, largest, calls), (vec![0.0; 20], 0.0, 5));
        assert_eq!(lists, [vec![], vec![1.0], vec![2.0, 2.0]]);
        assert_eq!(texts, ["", "of rank 1", ""]);
    }
}

#[test]
fn one_wish_to_stop_is_everybodys() {
    let halts = Threads::run(3, |world| {
        let raised = Control::on(Arc::new(AtomicBool::new(world.rank() == 2)));
        (world.halted(&Control::unlimited()), world.halted(&raised))
    });
    assert!(halts.into_iter().all(|halts| halts == (Ok(None), Ok(Some(Halt::Interrupted)))));
}

/// What three ranks find where the last is different.
fn faults<R: Send>(job: impl Fn(&dyn Collective, bool) -> Result<R> + Sync) -> Vec<(usize, String)> {
    let outcomes = Threads::run(3, |world| {
        let outcome = job(&*world, world.rank() == 2);
        // An error stays.
        assert_eq!(world.largest(1.0).err(), outcome.as_ref().err().cloned());
        outcome
    });
    let fault = |outcome: Result<R>| match outcome {
        Err(Error::Rank { rank, what }) => (rank, what),
        _ => panic!("expected a fault of a rank"),
    };
    outcomes.into_iter().map(fault).collect()
}

#[test]
fn ranks_that_have_come_apart_learn_it_at_the_next_call() {
    let other_numbers = faults(|world, last| {
        world.sum(&mut [1.0])?;
        world.ledger().witness(&[if last { 0.5 } else { 0.25 }]);
        world.sum(&mut [1.0])
    });
    let other_length = faults(|world, last| world.sum(&mut vec![1.0; if last { 30 } else { 400 }]));
    let other_call = faults(|world, last| if last { world.sum(&mut [1.0]) } else { world.lead(&mut [1.0]) });
    for (found, words) in [
        (other_numbers, "at call 2 its numbers"),
        (other_length, "a sum of length 30"),
        (other_call, "and rank 0 call 1 for numbers of rank 0"),
    ] {
        assert!(found.iter().all(|(rank, what)| *rank == 2 && what.contains(words)), "{found:?}");
    }
}

#[test]
fn a_complaint_is_heard_by_all() {
    let outcomes = Threads::run(3, |world| world.agree((world.rank() == 1).then_some("no rows")));
    let expected = Err(Error::Rank { rank: 1, what: "no rows".into() });
    assert!(outcomes.into_iter().all(|outcome| outcome == expected));
}

#[test]
fn nobody_waits_for_a_rank_that_has_left() {
    let outcomes = Threads::run(3, |world| if world.rank() == 0 { Ok(()) } else { world.sum(&mut [1.0]) });
    let gone = Err(Error::Rank { rank: 0, what: "it has left".into() });
    assert_eq!(outcomes[1..], [gone.clone(), gone]);
}
