//! `cargo xtask mpi`: `equipoise-mpi` on 2 and 4 ranks of this machine, which share its processors.
//!
//! Rows of an SVM, rows of a loss, nodes of a graph. Known optima of public data where `EQUIPOISE_DATA` is set, else generated rows against one process; the same bytes in every
//! run; and what happens when a rank is killed, stops, or was given other words. Skipped aloud where there is no MPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::check::{Skipped, cargo, root, run, target_folder};

/// The gap that is asked for.
const GAP: f64 = 1e-6;
/// The optimum of a7a at C = 1, by Clarabel.
const OPTIMUM_OF_A7A: f64 = 5699.25426585;
/// Seconds until which the loss of a rank has ended all, with some for a machine that has other things to do.
const PATIENCE: u64 = 20;

/// The exit status of the script below where there is no bridge between namespaces.
const NO_NAMESPACES: i32 = 77;
/// Two namespaces on a bridge, and a rank in each; `mpirun` reaches them by an agent in place of a remote shell.
const NAMESPACES: &str = r#"
join() {
    mount -t tmpfs none /run && mkdir -p /run/netns && ip link set lo up &&
    ip link add br0 type bridge && ip addr add 10.77.0.254/24 dev br0 && ip link set br0 up || return 1
    for k in 1 2; do
        ip netns add n$k && ip link add v$k type veth peer name e0 netns n$k && ip link set v$k master br0 up &&
        ip -n n$k addr add 10.77.0.$k/24 dev e0 && ip -n n$k link set e0 up && ip -n n$k link set lo up || return 1
    done
}
join >&2 || exit 77
net=10.77.0.0/24
exec mpirun --mca plm rsh --mca plm_rsh_agent "$1" --mca oob_tcp_if_include $net --mca btl tcp,self \
    --mca btl_tcp_if_include $net -H 10.77.0.1,10.77.0.2 -n 2 "$2" svm train --json "$3" --gap 1e-6 --model "$4"
"#;
/// The agent: HOST is 10.77.0.K, in the namespace nK.
const AGENT: &str = r#"#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec n${host##*.} sh -c "$*"
"#;

pub(crate) fn test() -> Result<()> {
    for program in ["mpirun", "mpicc"] {
        let found =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            let why = format!("there is no `{program}`; docs/cluster.md says how to install an MPI");
            return Err(anyhow!(Skipped(why)));
        }
    }
    let (target, folder) = (target_folder(), target_folder().join("mpi"));
    // As the other checks build it: with the features of the whole workspace, so that nothing is compiled twice.
    cargo(&["build", "--workspace", "--bins"])?;
    let manifest = root().join("mpi/Cargo.toml");
    let [manifest, into] = [manifest.to_string_lossy(), target.to_string_lossy()];
    run("cargo", &["build", "--manifest-path", &manifest, "--target-dir", &into], &[])?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let ranks = Ranks { program: target.join("debug/equipoise-mpi"), folder };
    let alone = target.join("debug/equipoise");
    let timed = |what: &str, check: &dyn Fn() -> Result<()>| -> Result<()> {
        let began = Instant::now();
        check()?;
        println!("{what}: {:.1} s", began.elapsed().as_secs_f64());
        Ok(())
    };
    timed("the optimum, twice, and by threads", &|| ranks.reach_the_optimum(&alone))?;
    timed("parts of a file", &|| ranks.read_parts())?;
    timed("problem files", &|| ranks.solve(&alone))?;
    timed("graphs", &|| ranks.agree(&alone))?;
    timed("other words", &|| ranks.refuse_other_words())?;
    timed("a rank that is killed", &|| ranks.end_when_one_is_lost("KILL", "rank 1"))?;
    timed("a rank that stops", &|| ranks.end_when_one_is_lost("STOP", "rank 1 has not answered"))?;
    timed("the same under --ranks", &|| ranks.launcher_names_who_was_killed(&alone))?;
    timed("--resume", &|| ranks.go_on_after_a_kill(&alone))?;
    timed("network namespaces", &|| ranks.train_between_namespaces())
}

/// The program on ranks, and where its files go.
struct Ranks {
    program: PathBuf,
    folder: PathBuf,
}

impl Ranks {
    /// `mpirun` as it has to be on a machine with fewer processors than ranks, perhaps by its administrator.
    fn mpirun() -> Command {
        let mut command = Command::new("mpirun");
        for name in [
            "OMPI_ALLOW_RUN_AS_ROOT",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
            "OMPI_MCA_rmaps_base_oversubscribe",
            "OMPI_MCA_mpi_yield_when_idle",
        ] {
            command.env(name, "1");
        }
        command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        command.current_dir(root());
        command
    }

    /// The program of one process, which starts ranks itself, with what `mpirun` needs here.
    fn at_root(alone: &Path) -> Command {
        let mut command = Command::new(alone);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_mpi_yield_when_idle", "1");
        command.current_dir(root());
        command
    }

    fn train(&self, ranks: usize, files: &[&Path], model: &Path) -> Result<Output> {
        let mut command = Self::mpirun();
        command.args(["-n", &ranks.to_string()]).arg(&self.program).args(["svm", "train", "--json"]);
        command.args(files).args(["--gap", &GAP.to_string(), "--model"]).arg(model);
        println!("$ {command:?}");
        command.output().context("cannot start mpirun")
    }

    /// The same optimum on 2 and 4 ranks, and the same bytes twice.
    fn reach_the_optimum(&self, alone: &Path) -> Result<()> {
        let (data, optimum) = if let Some(folder) = std::env::var_os("EQUIPOISE_DATA") {
            (Path::new(&folder).join("classification/a7a"), OPTIMUM_OF_A7A)
        } else {
            println!("EQUIPOISE_DATA is not set: generated rows, and one process, stand in for public data");
            let data = self.folder.join("rows.svm");
            fs::write(&data, generated(4000, 30))?;
            let gap = (1e-3 * GAP).to_string();
            let said =
                Command::new(alone).args(["svm", "train", "--json", "--gap", &gap]).arg(&data).output()?;
            (data, number(&said.stdout, "primal")?)
        };
        for ranks in [2, 4] {
            let [first, second] =
                ["first", "second"].map(|name| self.folder.join(format!("{name}-{ranks}.json")));
            let said = self.train(ranks, &[&data], &first)?;
            ensure!(said.status.success(), "{ranks} ranks: {}", String::from_utf8_lossy(&said.stderr));
            let (primal, gap) = (number(&said.stdout, "primal")?, number(&said.stdout, "relative_gap")?);
            let off = (primal - optimum).abs() / optimum;
            ensure!(
                gap <= GAP && off <= 1.1 * GAP,
                "{ranks} ranks: {primal}, gap {gap}; the optimum is {optimum}"
            );
            ensure!(number(&said.stdout, "ranks")? == ranks as f64, "the report does not say {ranks} ranks");
            self.train(ranks, &[&data], &second)?;
            ensure!(fs::read(first)? == fs::read(second)?, "{ranks} ranks gave other bytes the second time");
        }
        // Ranks that are threads of one process give the same bytes.
        let (data, gap) = (data.to_string_lossy(), GAP.to_string());
        let test = ["test", "--workspace", "--test", "cli", "--", "--ignored", "the_bytes_of_mpi"];
        let models = self.folder.to_string_lossy();
        let named =
            [("EQUIPOISE_MPI_DATA", &*data), ("EQUIPOISE_MPI_GAP", &gap), ("EQUIPOISE_MPI_MODELS", &models)];
        run("cargo", &test, &named)
    }

    /// Whole files, dealt: the same optimum, also where one rank has two.
    fn read_parts(&self) -> Result<()> {
        let text = generated(600, 8);
        let lines: Vec<&str> = text.lines().collect();
        let whole = self.folder.join("whole.svm");
        fs::write(&whole, &text)?;
        let mut parts = Vec::new();
        for (k, part) in lines.chunks(200).enumerate() {
            parts.push(self.folder.join(format!("part-{k}.svm")));
            fs::write(&parts[k], part.join("\n"))?;
        }
        let files: Vec<&Path> = parts.iter().map(PathBuf::as_path).collect();
        let model = self.folder.join("parts.json");
        let primal = |files: &[&Path]| number(&self.train(2, files, &model)?.stdout, "primal");
        let (of_parts, of_whole) = (primal(&files)?, primal(&[&whole])?);
        ensure!((of_parts - of_whole).abs() <= GAP * of_whole, "parts: {of_parts}, whole: {of_whole}");
        Ok(())
    }

    /// The rows of a loss, dealt; one process judges x from all of them.
    fn solve(&self, alone: &Path) -> Result<()> {
        let (mut rows, mut targets) = (String::new(), String::new());
        for line in generated(500, 12).lines() {
            let mut words = line.split(' ');
            targets.extend([words.next().unwrap_or_default(), "\n"]);
            let values: Vec<&str> =
                words.filter_map(|cell| cell.split_once(':')).map(|cell| cell.1).collect();
            rows += &(values.join(",") + "\n");
        }
        fs::write(self.folder.join("m.csv"), rows)?;
        fs::write(self.folder.join("y.csv"), targets)?;
        let [problem, found] = ["p.toml", "x.json"].map(|name| self.folder.join(name));
        let words = "[smooth]\nkind = \"logistic\"\nmatrix = \"m.csv\"\ntarget = \"y.csv\"\n\
                     [separable]\nkind = \"l1\"\nweight = 3\n[coupling]\nkind = \"sum\"\nrhs = 0\n";
        fs::write(&problem, words)?;
        for ranks in [2, 4] {
            let options = ["--tolerance", &GAP.to_string(), "--quiet"];
            self.run(ranks, &["solve"], &[&problem], &options, &found)?;
            let checked = ["verify", "--tolerance", &GAP.to_string()];
            let verified = Command::new(alone).args(checked).args([&problem, &found]).output()?;
            ensure!(
                verified.status.success(),
                "{ranks} ranks: {}",
                String::from_utf8_lossy(&verified.stdout)
            );
        }
        Ok(())
    }

    /// Nodes of a graph, several a rank and one: every rank reads the files of its own.
    fn agree(&self, alone: &Path) -> Result<()> {
        let text = generated(240, 6);
        let lines: Vec<&str> = text.lines().collect();
        let mut shards = Vec::new();
        for (k, part) in lines.chunks(60).enumerate() {
            shards.push(self.folder.join(format!("shard-{k}.svm")));
            fs::write(&shards[k], part.join("\n"))?;
        }
        let (files, found): (Vec<&Path>, _) =
            (shards.iter().map(PathBuf::as_path).collect(), self.folder.join("fit.json"));
        for (ranks, outstanding) in [(2, "1"), (4, "2")] {
            let options = ["--loss", "logistic", "--gap", "1e-6", "--graph", "clique", "--quiet"];
            let options = [&options[..], &["--outstanding", outstanding]].concat();
            self.run(ranks, &["consensus"], &files, &options, &found)?;
            let said = fs::read(&found)?;
            ensure!(
                number(&said, "sum_of_multipliers")? == 0.0,
                "{ranks} ranks: multipliers do not sum to 0"
            );
            let problem = ["--loss", "logistic", "--gap", "1e-6", "--quiet"];
            let mut verify = Command::new(alone);
            verify.args(["consensus", "verify"]).arg(&found).args(&files).args(problem);
            let verified = verify.output()?;
            ensure!(
                verified.status.success(),
                "{ranks} ranks: {}",
                String::from_utf8_lossy(&verified.stderr)
            );
        }
        Ok(())
    }

    /// A command on ranks that writes a file and says nothing.
    fn run(&self, ranks: usize, words: &[&str], files: &[&Path], options: &[&str], out: &Path) -> Result<()> {
        let mut command = Self::mpirun();
        command.args(["-n", &ranks.to_string()]).arg(&self.program).args(words).args(files).args(options);
        command.arg("--out").arg(out);
        println!("$ {command:?}");
        let said = command.output().context("cannot start mpirun")?;
        ensure!(said.status.success(), "{ranks} ranks: {}", String::from_utf8_lossy(&said.stderr));
        Ok(())
    }

    /// Ranks with other costs, and a file of too few rows.
    fn refuse_other_words(&self) -> Result<()> {
        let data = self.folder.join("few.svm");
        fs::write(&data, "1 1:1\n-1 1:-1\n")?;
        let mut command = Self::mpirun();
        for (separator, cost) in [(None, "1"), (Some(":"), "2")] {
            command.args(separator).args(["-n", "1"]).arg(&self.program);
            command.args(["svm", "train", "--cost", cost]).arg(&data);
        }
        refused(&command.output()?, "rank 1: its word 4 is `2`, on rank 0 `1`")?;
        refused(&self.train(4, &[&data], &self.folder.join("few.json"))?, "use fewer ranks")
    }

    /// A rank that waits for rows for ever is sent a signal: all are gone soon, and it is named.
    fn end_when_one_is_lost(&self, signal: &str, words: &str) -> Result<()> {
        let mut command = Self::mpirun();
        command.args(["-n", "2"]).arg(&self.program);
        self.lose_one(command, &[], signal, words).map(drop)
    }

    /// The same under `--ranks`: exit status 2, and the rank that was killed.
    fn launcher_names_who_was_killed(&self, alone: &Path) -> Result<()> {
        let ranks = ["--ranks", "2"];
        let status = self.lose_one(Self::at_root(alone), &ranks, "KILL", "error: rank 1 was ended")?;
        ensure!(status.is_none_or(|status| status.code() == Some(2)), "--ranks answered {status:?}");
        Ok(())
    }

    /// Starts a training that waits at a pipe, ends rank 1, and waits for the others; none where ranks cannot be found.
    fn lose_one(
        &self,
        mut command: Command,
        options: &[&str],
        signal: &str,
        words: &str,
    ) -> Result<Option<ExitStatus>> {
        if !cfg!(target_os = "linux") {
            println!("skipped: SIG{signal} to a rank, which is found by what only Linux tells");
            return Ok(None);
        }
        let (rows, pipe) = (self.folder.join("few.svm"), self.folder.join("pipe"));
        let _ = fs::remove_file(&pipe);
        run("mkfifo", &[&pipe.to_string_lossy()], &[])?;
        command.args(["svm", "train"]).args([&rows, &pipe]).args(options);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let rank = self.wait_for_rank(&mut child, &pipe)?;
        // It has begun to listen by now.
        sleep(Duration::from_secs(1));
        end(child, rank, signal, words).map(Some)
    }

    /// A run that is put aside and killed goes on where it was: to the bytes of one that was not.
    fn go_on_after_a_kill(&self, alone: &Path) -> Result<()> {
        if !cfg!(target_os = "linux") {
            println!("skipped: SIGKILL to a rank, which is found by what only Linux tells");
            return Ok(());
        }
        let [rows, aside, cold, warm] =
            ["many.svm", "aside", "cold.json", "warm.json"].map(|name| self.folder.join(name));
        fs::write(&rows, generated(8000, 40))?;
        for old in ["aside.rank-0.0", "aside.rank-0.1", "aside.rank-1.0", "aside.rank-1.1"] {
            let _ = fs::remove_file(self.folder.join(old));
        }
        let train = |options: &[&Path], model: &Path| {
            let mut command = Self::at_root(alone);
            command.args(["svm", "train", "--ranks", "2", "--gap", "1e-12", "--quiet"]).arg(&rows);
            command.args(options).arg("--model").arg(model);
            command
        };
        let whole = train(&[], &cold).output()?;
        ensure!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
        let [checkpoint, every, now, resume] = ["--checkpoint", "--every", "0", "--resume"].map(Path::new);
        let aside_now = [checkpoint, &aside, every, now];
        let mut command = train(&aside_now, &warm);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let rank = self.wait_for_rank(&mut child, &aside)?;
        let begun = Instant::now();
        while !self.folder.join("aside.rank-1.1").exists() && begun.elapsed().as_secs() < PATIENCE {
            ensure!(child.try_wait()?.is_none(), "the run ended before it put anything aside");
            sleep(Duration::from_millis(2));
        }
        let status = end(child, rank, "KILL", "--resume")?;
        ensure!(status.code() == Some(2), "--ranks answered {status}");
        let resumed = train(&[&aside_now[..], &[resume]].concat(), &warm).output()?;
        ensure!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
        ensure!(fs::read(cold)? == fs::read(warm)?, "the run that was killed came to another model");
        Ok(())
    }

    /// Two ranks with a network of their own each, and a bridge between.
    fn train_between_namespaces(&self) -> Result<()> {
        let may = |program: &str, args: &[&str]| {
            let status =
                Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        if !may("unshare", &["-n", "-m", "true"]) || !may("ip", &["-V"]) {
            println!("skipped: two ranks in two network namespaces, which this machine does not allow");
            return Ok(());
        }
        let [script, agent, rows, model] =
            ["namespaces.sh", "agent", "rows-apart.svm", "apart.json"].map(|name| self.folder.join(name));
        fs::write(&script, NAMESPACES)?;
        fs::write(&agent, AGENT)?;
        run("chmod", &["+x", &agent.to_string_lossy()], &[])?;
        fs::write(&rows, generated(600, 8))?;
        let mut command = Command::new("unshare");
        command.args(["-n", "-m", "sh"]).args([&script, &agent, &self.program, &rows, &model]);
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        println!("$ {command:?}");
        let said = command.current_dir(root()).output()?;
        if said.status.code() == Some(NO_NAMESPACES) {
            println!("skipped: two ranks in two network namespaces, which could not be joined by a bridge");
            return Ok(());
        }
        let error = String::from_utf8_lossy(&said.stderr);
        ensure!(said.status.success(), "ranks in two namespaces: {}: {error}", said.status);
        let (ranks, gap) = (number(&said.stdout, "ranks")?, number(&said.stdout, "relative_gap")?);
        ensure!(ranks == 2.0 && gap <= GAP, "{ranks} ranks in namespaces came to a gap of {gap}");
        Ok(())
    }

    /// The process of rank 1, once its words name the pipe that it waits for.
    fn wait_for_rank(&self, child: &mut Child, pipe: &Path) -> Result<u32> {
        let started = Instant::now();
        let (pipe, program) = (pipe.to_string_lossy().into_owned(), self.program.to_string_lossy());
        while started.elapsed().as_secs() < PATIENCE {
            ensure!(child.try_wait()?.is_none(), "mpirun ended before anything was done to its ranks");
            for entry in fs::read_dir("/proc")?.filter_map(Result::ok) {
                let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                let read = |name: &str| {
                    String::from_utf8_lossy(&fs::read(entry.path().join(name)).unwrap_or_default())
                        .into_owned()
                };
                let words = read("cmdline");
                let is_ours = words.starts_with(&*program) && words.contains(&pipe);
                if is_ours && read("environ").split('\0').any(|word| word == "OMPI_COMM_WORLD_RANK=1") {
                    return Ok(process);
                }
            }
            sleep(Duration::from_millis(50));
        }
        child.kill()?;
        bail!("rank 1 did not appear within {PATIENCE} s")
    }
}

/// Sends a signal to a rank, and waits until all are gone; what they say has these words.
fn end(mut child: Child, rank: u32, signal: &str, words: &str) -> Result<ExitStatus> {
    run("kill", &["-s", signal, &rank.to_string()], &[])?;
    let sent = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if sent.elapsed().as_secs() > PATIENCE {
            child.kill()?;
            bail!("{PATIENCE} s after SIG{signal} to rank 1 the others still run");
        }
        sleep(Duration::from_millis(50));
    };
    let took = sent.elapsed().as_secs_f64();
    let said = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&said.stderr);
    ensure!(!status.success() && said.contains(words), "SIG{signal}: {status}: {said}");
    println!("SIG{signal} to rank 1: all gone after {took:.1} s, exit status {:?}", status.code());
    Ok(status)
}

fn refused(said: &Output, words: &str) -> Result<()> {
    let error = String::from_utf8_lossy(&said.stderr);
    ensure!(said.status.code() == Some(2) && error.contains(words), "{}: {error}", said.status);
    Ok(())
}

/// The number of a key in an object of `--json`.
fn number(text: &[u8], key: &str) -> Result<f64> {
    let text = String::from_utf8_lossy(text);
    let found = text.split_once(&format!("\"{key}\":")).map(|(_, after)| after);
    let word = found.and_then(|after| after.split([',', '}']).next());
    word.and_then(|word| word.trim().parse().ok()).with_context(|| format!("no {key} in {text:?}"))
}

/// Rows of two classes that no plane parts: labels of a plane, one in eight wrong.
fn generated(rows: usize, columns: usize) -> String {
    let mut seed = 20_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    let plane: Vec<f64> = (0..columns).map(|_| draw()).collect();
    let mut text = String::new();
    for row in 0..rows {
        let values: Vec<f64> = (0..columns).map(|_| draw()).collect();
        let score: f64 = values.iter().zip(&plane).map(|(value, slope)| value * slope).sum();
        let sign = if row % 8 == 0 { -score } else { score };
        text += if sign > 0.0 { "1" } else { "-1" };
        let cells: Vec<String> = (1..).zip(&values).map(|(k, value)| format!(" {k}:{value}")).collect();
        text += &cells.concat();
        text.push('\n');
    }
    text
}
