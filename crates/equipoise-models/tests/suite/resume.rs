//! A training that is put aside between any two rounds, and gone on with, ends with the bits of one that was not.

use equipoise::{Control, Method, Status};
use equipoise_models::svm::{
    Kind, LinearModel, Loss, TrainKeeper, TrainSettings, TrainSnapshot, Trained, Watch, train,
};

use crate::numbers::Numbers;
use crate::{Data, classes, shifted, targets};

/// Keeps every snapshot; whether one is due may be always, or only when something is finished.
struct All {
    snapshots: Vec<TrainSnapshot>,
    always: bool,
}

impl TrainKeeper for All {
    fn is_due(&mut self) -> bool {
        self.always
    }

    fn keep(&mut self, snapshot: &TrainSnapshot) {
        self.snapshots.push(snapshot.clone());
    }
}

/// A training without its times.
fn timeless(mut trained: Trained) -> Trained {
    trained.report.seconds = 0.0;
    trained
}

fn run(
    data: &Data,
    settings: &TrainSettings,
    start: Option<&LinearModel>,
    keeper: Option<&mut All>,
    resumed: Option<&TrainSnapshot>,
) -> Trained {
    let keeper = keeper.map(|keeper| keeper as &mut (dyn TrainKeeper + Send));
    let watch = Watch { keeper, resumed, ..Watch::default() };
    timeless(train(data.samples(), settings, start, watch).expect("valid"))
}

/// Puts a training aside at several moments and lets each go on; how many did.
fn goes_on_alike(data: &Data, settings: &TrainSettings, start: Option<&LinearModel>) -> usize {
    let name = format!("{settings:?}");
    let mut all = All { snapshots: Vec::new(), always: true };
    let whole = run(data, settings, start, Some(&mut all), None);
    // NaN labels, of kinds without classes, are no equals: compared as they are shown.
    let shown = |trained: &Trained| format!("{trained:?}");
    assert_eq!(
        shown(&run(data, settings, start, None, None)),
        shown(&whole),
        "{name}: a keeper changes the run"
    );
    let step = all.snapshots.len().div_ceil(10).max(1);
    for snapshot in all.snapshots.iter().step_by(step) {
        let words = snapshot.to_words();
        let read = TrainSnapshot::from_words(&words).expect("what was written");
        assert_eq!(read.to_words(), words);
        assert!(read.is_exact());
        let mut rest = run(data, settings, start, None, Some(&read));
        // Of fits that were finished before, the multipliers are gone.
        for (rest, whole) in rest.multipliers.iter_mut().zip(&whole.multipliers) {
            *rest = rest.take().or_else(|| whole.clone());
        }
        let (finished, fits) = (read.finished(), read.fits());
        assert_eq!(
            shown(&rest),
            shown(&whole),
            "{name}: {finished} of {fits} finished, {} updates",
            read.updates()
        );
    }
    all.snapshots.len()
}

#[test]
fn every_kind_goes_on_with_the_same_bits() {
    let mut numbers = Numbers::new(51);
    let two = classes(&mut numbers, 300, 8, 0.7);
    let apart = shifted(&mut numbers, 120, 6, 0.8, 3.0);
    let regression = targets(&mut numbers, 200, 7, 0.8);
    let mut tried = 0;
    for method in [Method::Auto, Method::Pairs] {
        let base = TrainSettings { method, gap: 1e-7, max_epochs: Some(2000.0), ..TrainSettings::default() };
        let of = |kind, loss| TrainSettings { kind, loss, nu: 0.3, ..base.clone() };
        tried += goes_on_alike(&two, &of(Kind::Svc, Loss::Hinge), None);
        tried += goes_on_alike(&two, &of(Kind::Svc, Loss::SquaredHinge), None);
        tried += goes_on_alike(&apart, &of(Kind::NuSvc, Loss::Hinge), None);
        tried += goes_on_alike(&regression, &of(Kind::Svr, Loss::Hinge), None);
        tried += goes_on_alike(&regression, &of(Kind::OneClass, Loss::Hinge), None);
    }
    assert!(tried > 40, "{tried} snapshots");
}

#[test]
fn several_labels_and_a_warm_start_go_on_with_the_same_bits() {
    let mut numbers = Numbers::new(53);
    let mut data = classes(&mut numbers, 400, 8, 0.7);
    data.labels.iter_mut().enumerate().for_each(|(i, label)| *label = if i % 5 == 0 { 7.0 } else { *label });
    let settings = TrainSettings { gap: 1e-7, ..TrainSettings::default() };
    assert!(goes_on_alike(&data, &settings, None) > 3);
    let rough = TrainSettings { gap: 1e-2, cost: 0.3, ..settings.clone() };
    let start = data.train(&rough).expect("valid").model;
    assert!(goes_on_alike(&data, &settings, Some(&start)) >= 3);
    // What is finished is kept, also where nothing else is due, and is not trained again.
    let mut all = All { snapshots: Vec::new(), always: false };
    let mut whole = run(&data, &settings, None, Some(&mut all), None);
    whole.multipliers.fill(None);
    let finished: Vec<usize> = all.snapshots.iter().map(TrainSnapshot::finished).collect();
    assert_eq!(finished, [1, 2, 3]);
    assert_eq!(run(&data, &settings, None, None, all.snapshots.last()), whole);
}

#[test]
fn a_training_that_was_ended_goes_on() {
    let mut numbers = Numbers::new(57);
    let mut data = classes(&mut numbers, 400, 8, 0.7);
    data.labels.iter_mut().enumerate().for_each(|(i, label)| *label = if i % 5 == 0 { 7.0 } else { *label });
    let settings = TrainSettings { gap: 1e-7, method: Method::Pairs, ..TrainSettings::default() };
    let whole = run(&data, &settings, None, None, None);
    let mut all = All { snapshots: Vec::new(), always: true };
    let watch =
        Watch { keeper: Some(&mut all), control: Control::unlimited().within(0.02), ..Watch::default() };
    // Time may be up at any moment, also before there is anything.
    let ended = train(data.samples(), &settings, None, watch);
    if let Ok(ended) = &ended
        && ended.report.status() != Status::Converged
    {
        let trained = ended.report.classes.len() - ended.report.untrained();
        assert!(trained >= 1 && trained >= all.snapshots.last().map_or(0, TrainSnapshot::finished));
    }
    let rest = run(&data, &settings, None, None, all.snapshots.last());
    assert_eq!(rest, whole);
}

#[test]
fn a_snapshot_of_other_labels_is_refused() {
    let mut numbers = Numbers::new(59);
    let two = classes(&mut numbers, 60, 5, 0.8);
    let mut three = two.clone();
    three.labels[7] = 9.0;
    let settings = TrainSettings::default();
    let mut all = All { snapshots: Vec::new(), always: true };
    let _ = run(&three, &settings, None, Some(&mut all), None);
    let snapshot = all.snapshots.last().expect("three fits");
    let watch = Watch { resumed: Some(snapshot), ..Watch::default() };
    let refused = train(two.samples(), &settings, None, watch).expect_err("of other labels").to_string();
    assert!(refused.contains("snapshot"), "{refused}");
    let words = snapshot.to_words();
    assert!((0..words.len()).all(|cut| TrainSnapshot::from_words(&words[..cut]).is_err()));
}
