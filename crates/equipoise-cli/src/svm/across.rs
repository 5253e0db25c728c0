//! `equipoise-mpi svm train`: every rank reads its share of the rows, all train one model, the first writes and says it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::collective::Collective;
use equipoise::{Control, Status};
use equipoise_formats::LabelledRows;
use equipoise_formats::libsvm::{ReadOptions, read_part, read_path};
use equipoise_formats::svm_model::{Format, check_liblinear};
use equipoise_models::svm::{self, Kind, TrainSettings};

use super::choices;
use super::data::{Across, Data, Reading};
use super::table;
use super::train::{Plan, fits, identity, note_targets};
use crate::args::{TableChoice, TrainArguments};
use crate::exit::Outcome;
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::progress::Fits;
use crate::ranks::{Departure, note_processors, together};
use crate::shards::Shard;
use crate::watch::Watch;

pub(crate) fn run(
    args: &TrainArguments,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
) -> Result<Outcome> {
    let speaks = world.rank() == 0;
    refuse(args)?;
    let mut settings = choices::settings(&args.training)?;
    let control = interrupt.within(settings.time_limit);
    let quiet = args.training.quiet || !speaks;
    if !args.training.quiet {
        note_processors(&**world, settings.threads);
    }
    // Files are the business of the first rank; what it finds there ends all.
    let place = together(&**world, if speaks { place(args, &control) } else { Ok(None) })?;
    let shard = Shard::look(&args.checkpointing, &**world, quiet, &control)?;
    let source = Source { data: &args.data, parts: &args.parts, table: &args.table };
    let mut data = read(&source, &settings, &control, &**world)?;
    choices::weigh(&mut settings, &args.training, &data)?;
    if let (Some(path), Format::Liblinear) = (&args.model, args.format) {
        let labels = if settings.kind == Kind::Svc { data.distinct() } else { Vec::new() };
        check_liblinear(path, &labels, &data.features)?;
    }
    if !quiet {
        note_targets(&settings, &data);
    }
    let watch = if speaks { Watch::for_fits(args.history.as_deref()) } else { Watch::for_fits(None) };
    let mut watch = together(&**world, watch)?;
    if speaks {
        watch.keeps(args.plot.as_deref());
    }
    let (mut taken_up, mut keeper) = (None, None);
    if let Some(shard) = &shard {
        let mut run = identity(&data, &settings, None);
        run.settings.push(("ranks".into(), world.ranks().to_string()));
        taken_up = shard.take_up(&run, &**world)?;
        shard.announce(taken_up.as_ref(), args.checkpointing.resume);
        let history = taken_up.as_ref().map_or("", |taken_up| &taken_up.history);
        let history = if speaks { watch.goes_on_with(history) } else { None };
        keeper = Some(shard.keeper(run, taken_up.as_ref(), history));
    }
    let limit = settings.time_limit;
    settings.time_limit = interrupt.left(limit);
    if !quiet {
        watch.show_fits(&settings, Fits::new("class", fits(&settings, &data)));
    }
    let departure = Departure::now(&**world);
    let company = svm::Watch {
        observer: speaks.then_some(&mut watch as _),
        control: control.clone(),
        keeper: keeper.as_mut().map(|keeper| keeper as _),
        resumed: taken_up.as_ref().map(|taken_up| &taken_up.snapshot),
        ..svm::Watch::default()
    };
    let trained = svm::train_across(world, data.samples(), &settings, company);
    watch.hide_bar();
    let trained = trained.with_context(|| args.data.display().to_string())?;
    if let (Some(across), Some(found)) = (&mut data.across, departure.travelled(&**world)?) {
        (across.bytes_sent, across.communication) = (found.bytes_sent, found.communication);
    }
    let converged = trained.report.status() == Status::Converged;
    let experiment = args.training.multicore.experiment()?;
    let plan = Plan {
        args,
        settings,
        experiment,
        limit,
        format: args.format,
        data,
        start: None,
        place,
        aside: None,
        keeper: None,
        resumed: None,
        watch,
        control,
    };
    let written = if speaks { plan.render(trained, None) } else { Ok(()) };
    together(&**world, written)?;
    if let Some(shard) = &shard {
        shard.finish(converged);
    }
    Ok(converged.into())
}

/// Refuses what is not there on several ranks.
fn refuse(args: &TrainArguments) -> Result<()> {
    let typed = [
        (
            "--ranks",
            args.ranks.is_some(),
            "`equipoise svm train` starts ranks; here they are started already",
        ),
        ("--probabilities", args.probabilities.is_some(), "train with `equipoise` for probabilities"),
        ("--scale", args.scale.is_some(), "scale the rows first"),
        ("--warm-start", args.warm_start.is_some(), "begin afresh"),
        ("--weights", args.training.weights.is_some(), "repeat rows instead"),
        ("-", args.data.as_os_str() == "-", "name a file that every rank can read"),
        ("a table", table::is_table(&args.data, &args.table), "use LIBSVM text"),
    ];
    for (option, is_typed, advice) in typed {
        if is_typed {
            bail!("{option} is not offered on several ranks: {advice}");
        }
    }
    Ok(())
}

/// Where the model goes, and what is there; no output is an input.
fn place<'a>(args: &'a TrainArguments, control: &Control) -> Result<Option<Place<'a>>> {
    let inputs: Vec<Option<&Path>> = files(&args.data, &args.parts).map(Some).collect();
    let [model, history, plot] = [&args.model, &args.history, &args.plot].map(Option::as_deref);
    outputs::check(&[model, history, plot], &inputs)?;
    args.model.as_deref().map(|path| Place::look(path, Sort::Model, control)).transpose()
}

/// Where rows come from, as typed.
pub(super) struct Source<'a> {
    pub(super) data: &'a Path,
    pub(super) parts: &'a [PathBuf],
    pub(super) table: &'a TableChoice,
}

/// Every file of rows, in the order typed.
fn files<'a>(data: &'a Path, parts: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    std::iter::once(data).chain(parts.iter().map(PathBuf::as_path))
}

/// The rows of this rank, in the columns of all, with what all have in common.
pub(super) fn read(
    source: &Source<'_>,
    settings: &TrainSettings,
    control: &Control,
    world: &dyn Collective,
) -> Result<Data> {
    let started = Instant::now();
    let mut own = together(world, read_share(source, settings, control, world))?;
    own.widen(&features_of_all(&own, world)?);
    let reading = Reading {
        threads: settings.threads,
        quiet: true,
        control,
        table: source.table,
        needs_labels: settings.kind != Kind::OneClass,
        scale: None,
    };
    let mut data = together(world, Data::new(own, source.data, reading))?;
    let words: Vec<f64> = data.counts.iter().flat_map(|(label, count)| [*label, *count as f64]).collect();
    data.counts = merged(&world.lists(&words)?);
    let rows = data.counts.iter().map(|(_, count)| count).sum();
    data.across = Some(Across { ranks: world.ranks(), rows, ..Across::default() });
    data.seconds = started.elapsed().as_secs_f64();
    Ok(data)
}

/// A part of the one file, or whole files where there are several.
fn read_share(
    source: &Source<'_>,
    settings: &TrainSettings,
    control: &Control,
    world: &dyn Collective,
) -> Result<LabelledRows> {
    let (rank, ranks) = (world.rank(), world.ranks());
    let options = ReadOptions { threads: settings.threads };
    let Source { data, parts, .. } = source;
    if parts.is_empty() {
        let read = read_part(data, rank, ranks, options, control);
        return read.context("its part of the file; with few rows, use fewer ranks");
    }
    let mut own = files(data, parts).skip(rank).step_by(ranks);
    let Some(first) = own.next() else {
        bail!("there are {} files, and every rank needs one; use fewer ranks", 1 + parts.len());
    };
    let mut rows = read_path(first, options, control)?;
    for path in own {
        rows.append(read_path(path, options, control)?);
    }
    Ok(rows)
}

fn features_of_all(own: &LabelledRows, world: &dyn Collective) -> Result<Vec<u32>> {
    let own: Vec<f64> = own.features.iter().copied().map(f64::from).collect();
    let mut all: Vec<u32> = world.lists(&own)?.into_iter().flatten().map(|feature| feature as u32).collect();
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Labels with their counts, of all ranks.
fn merged(lists: &[Vec<f64>]) -> Vec<(f64, usize)> {
    let mut all: Vec<(f64, usize)> = Vec::new();
    for pair in lists.iter().flat_map(|list| list.chunks_exact(2)) {
        match all.binary_search_by(|(label, _)| label.total_cmp(&pair[0])) {
            Ok(place) => all[place].1 += pair[1] as usize,
            Err(place) => all.insert(place, (pair[0], pair[1] as usize)),
        }
    }
    all
}
