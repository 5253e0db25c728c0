//! `equipoise portfolio`: results and their check, frontiers, what is refused.

use std::fs;

use serde_json::Value;

use crate::{Finished, equipoise, scratch, text, write};

/// Four assets, nine days, a gap.
const PRICES: &str = "date,a,b,c,d
2024-01-01,10,20,30,40
2024-01-02,10.2,19.9,30.6,40.1
2024-01-03,10.1,20.3,30.1,40.3
2024-01-04,10.4,20.2,,40.2
2024-01-05,10.3,20.5,31.2,40.6
2024-01-08,10.6,20.4,30.8,40.5
2024-01-09,10.5,20.8,31.9,40.9
2024-01-10,10.9,20.6,31.5,40.8
2024-01-11,10.8,21.0,32.4,41.2
";

fn solve(test: &str, options: &[&str]) -> Finished {
    let path = write(&scratch(test), "prices.csv", PRICES);
    equipoise(&[&["portfolio", &path], options].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

#[test]
fn a_result_has_its_fields_and_verifies() {
    let folder = scratch("portfolio_fields");
    let (data, out) = (write(&folder, "prices.csv", PRICES), text(&folder.join("result.json")));
    let (plot, history) = (text(&folder.join("result.svg")), text(&folder.join("history.csv")));
    let problem = ["--max-weight", "0.6", "--target-return", "0.003"];
    let files = ["--json", "--out", &out, "--plot", &plot, "--history", &history];
    let found = equipoise(&[&["portfolio", &data][..], &problem, &files].concat()).expect(0);
    let json = found.json();
    assert_eq!(json["status"], "converged");
    let weights: Vec<f64> = ["a", "b", "c", "d"].iter().map(|name| number(&json["weights"][name])).collect();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
    assert!(weights.iter().all(|w| (0.0..=0.6).contains(w)), "{weights:?}");
    assert!(number(&json["expected_return"]) >= 0.003 - 1e-15);
    assert!(number(&json["bound"]) <= number(&json["objective"]) && number(&json["relative_gap"]) <= 1e-6);
    assert_eq!(json["variance"], json["objective"], "no penalty");
    assert_eq!(
        (&json["days"], &json["days_dropped"], &json["cells_filled"]),
        (&7.into(), &1.into(), &0.into())
    );
    assert_eq!(json["gaps"][0], serde_json::json!({"asset": "c", "lacking": 1, "first_row": 4}));
    assert!(number(&json["multipliers"]["return"]) >= 0.0 && json["multipliers"]["turnover"].is_null());
    assert!(json["seconds_load"].is_f64() && json["seconds_solve"].is_f64() && json["points"].is_null());
    assert!(found.stderr.contains("warning: missing numbers: c (1); 1 rows left out"), "{}", found.stderr);
    assert_eq!(fs::read_to_string(&out).expect("written"), found.stdout);
    let rounds = fs::read_to_string(&history).expect("written");
    assert!(rounds.starts_with("round,point,assets,seconds,objective,bound\n1,0,4,"), "{rounds}");
    assert!(fs::read_to_string(&plot).expect("drawn").contains("Risk and return"));
    let verify =
        |file: &str| equipoise(&[&["portfolio", "verify", file, &data][..], &problem, &["--json"]].concat());
    assert_eq!(verify(&out).expect(0).json()["met"], true);
    let even = write(&folder, "even.json", r#"{"weights": {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}}"#);
    assert_eq!(verify(&even).expect(1).json()["met"], false);
    let short = write(&folder, "short.json", r#"{"weights": {"a": 0.5, "b": 0.25}}"#);
    let missed = verify(&short).expect(1).json();
    assert!(number(&missed["infeasibility"]) > 0.1);
    let strange = write(&folder, "strange.json", r#"{"weights": {"z": 1}}"#);
    verify(&strange).expect(2).complains(&["name `z`, which is no asset"]);
    let warm = [&["portfolio", &data][..], &problem, &["--start", &out, "--json"]].concat();
    let again = equipoise(&warm).expect(0).json();
    assert!((number(&again["weights"]["a"]) - weights[0]).abs() < 1e-8, "{again}");
}

#[test]
fn a_frontier_rises_from_the_least_variance_to_the_best_asset() {
    let folder = scratch("portfolio_frontier");
    let data = write(&folder, "prices.csv", PRICES);
    let (out, csv) = (text(&folder.join("frontier.json")), text(&folder.join("frontier.csv")));
    let plot = text(&folder.join("frontier.svg"));
    let typed = ["--frontier", "6", "--json", "--out", &out, "--frontier-csv", &csv, "--plot", &plot];
    let json = equipoise(&[&["portfolio", &data][..], &typed].concat()).expect(0).json();
    let points = json["points"].as_array().expect("points");
    assert_eq!(points.len(), 6);
    for pair in points.windows(2) {
        assert!(number(&pair[1]["variance"]) > number(&pair[0]["variance"]));
        assert!(number(&pair[1]["expected_return"]) > number(&pair[0]["expected_return"]));
    }
    let last = ["a", "b", "c", "d"].map(|name| number(&points[5]["weights"][name]));
    assert!(last.iter().any(|w| (w - 1.0).abs() < 1e-6), "{last:?}");
    assert_eq!(json["variance"], points[0]["variance"]);
    let rows = fs::read_to_string(&csv).expect("written");
    assert!(rows.starts_with("return,variance,risk,objective,bound,relative_gap,status,turnover,a,b,c,d\n"));
    assert_eq!(rows.lines().count(), 7);
    let drawn = fs::read_to_string(&plot).expect("drawn");
    assert!(drawn.contains("Efficient frontier") && drawn.contains("Weights along the frontier"));
    let verify = equipoise(&["portfolio", "verify", &out, &data, "--json"]).expect(0).json();
    assert_eq!(verify["points"].as_array().map(Vec::len), Some(6));
    let target = number(&points[3]["target_return"]).to_string();
    let alone = equipoise(&["portfolio", &data, "--target-return", &target, "--json"]).expect(0).json();
    assert!((number(&alone["variance"]) / number(&points[3]["variance"]) - 1.0).abs() < 1e-6);
}

#[test]
fn limits_sectors_and_turnover_are_kept() {
    let folder = scratch("portfolio_limits");
    let data = write(&folder, "prices.csv", PRICES);
    let sectors = write(&folder, "sectors.csv", "asset,sector\na,x\nb,x\nc,y\nd,y\n");
    let limits = write(&folder, "limits.csv", "sector,min,max\nx,0.5,0.5\ny,,0.9\n");
    let own = write(&folder, "own.csv", "asset,min,max\nd,,0.2\nc,0.1,\n");
    let held = write(&folder, "held.csv", "asset,weight\na,0.4\nb,0.2\nc,0.25\nd,0.15\n");
    let typed = ["--sectors", &sectors, "--sector-limits", &limits, "--limits", &own, "--json"];
    let json = equipoise(&[&["portfolio", &data][..], &typed].concat()).expect(0).json();
    let of = |json: &Value, name: &str| number(&json["weights"][name]);
    assert!((of(&json, "a") + of(&json, "b") - 0.5).abs() < 1e-12, "{json}");
    assert!(of(&json, "d") <= 0.2 && of(&json, "c") >= 0.1, "{json}");
    assert!(json["multipliers"]["sector x"].is_f64() && json["multipliers"]["sector y"] == 0.0, "{json}");
    let typed = ["--current", &held, "--max-turnover", "0.1", "--json"];
    let json = equipoise(&[&["portfolio", &data][..], &typed].concat()).expect(0).json();
    assert!(
        number(&json["turnover"]) <= 0.1 + 1e-12 && number(&json["multipliers"]["turnover"]) < 0.0,
        "{json}"
    );
    let typed = ["--current", &held, "--turnover-penalty", "1", "--json"];
    let json = equipoise(&[&["portfolio", &data][..], &typed].concat()).expect(0).json();
    assert_eq!((of(&json, "a"), of(&json, "b"), of(&json, "c")), (0.4, 0.2, 0.25), "too dear to move");
    let json = solve("portfolio_short", &["--long-short", "--min-weight", "-0.5", "--json"]).expect(0).json();
    assert!(["a", "b", "c", "d"].iter().any(|name| of(&json, name) < 0.0), "{json}");
}

#[test]
fn returns_and_shrinkage_and_filled_days() {
    let folder = scratch("portfolio_returns");
    let data = write(&folder, "returns.csv", "a;b\n0.01;0.02\n-0.01;0.01\n0.02;\n0.01;0.03\n0.00;-0.02\n");
    let run = |typed: &[&str]| equipoise(&[&["portfolio", &data, "--json"][..], typed].concat());
    let json = run(&["--returns", "--missing", "fill", "--shrinkage", "auto"]).expect(0).json();
    assert_eq!((&json["days"], &json["cells_filled"]), (&5.into(), &1.into()));
    assert!((0.0..=1.0).contains(&number(&json["shrinkage"])) && number(&json["shrinkage"]) > 0.0);
    assert_eq!(run(&["--returns"]).expect(0).json()["days"], 4);
    run(&["--returns", "--missing", "refuse"]).expect(2).complains(&["`b` has no return in row 3"]);
    run(&[]).expect(2).complains(&["price of `a` in row 2: found -0.01, expected a number above 0"]);
}

#[test]
fn every_asset_of_a_frontier_with_short_positions_is_drawn_and_named() {
    let folder = scratch("portfolio_many");
    let header: Vec<String> = (0..15).map(|asset| format!("a{asset}")).collect();
    let mut table = header.join(",") + "\n";
    for day in 0..60_u32 {
        let cell =
            |asset: u32| f64::from((day * day * 31 + asset * 17 + day * asset * 7) % 101) / 5000.0 - 0.01;
        let cells: Vec<String> = (0..15).map(|asset| cell(asset).to_string()).collect();
        table += &(cells.join(",") + "\n");
    }
    let (data, plot) = (write(&folder, "returns.csv", &table), text(&folder.join("frontier.svg")));
    let typed =
        ["portfolio", &data, "--returns", "--long-short", "--frontier", "4", "--plot", &plot, "--quiet"];
    equipoise(&typed).expect(0);
    let drawn = std::fs::read_to_string(&plot).expect("drawn");
    assert!(drawn.contains("3 others"), "{drawn}");
    // Twelve with a colour of their own.
    let lines = drawn.split("Weights along the frontier").nth(1).expect("the second panel");
    let mut colours: Vec<&str> = lines
        .split("<polyline")
        .skip(1)
        .filter_map(|line| line.split("stroke=\"").nth(1)?.split('"').next())
        .filter(|colour| !["#969696", "#3C3C3C", "#DEDEDE"].contains(colour))
        .collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), 12, "{colours:?}");
}

#[test]
fn returns_whose_squares_are_beyond_numbers_are_refused() {
    let folder = scratch("portfolio_huge");
    let data = write(&folder, "returns.csv", "a,b\n1e153,0.1\n2e153,0.2\n3e153,-0.1\n");
    let refused = equipoise(&["portfolio", &data, "--returns"]).expect(2);
    let refused = refused.complains(&["return of `a`: found 1", "variances can be computed, below 1e150"]);
    assert!(!refused.stderr.contains("contradict"), "{}", refused.stderr);
}

#[test]
fn bad_input_is_refused_with_its_evidence() {
    let folder = scratch("portfolio_refused");
    let data = write(&folder, "prices.csv", PRICES);
    let refuse = |typed: &[&str], words: &[&str]| {
        equipoise(&[&["portfolio", &data][..], typed].concat()).expect(2).complains(words);
    };
    refuse(
        &["--target-return", "0.5"],
        &["no portfolio within the limits has an expected return of 0.5", "best asset, `c`"],
    );
    refuse(
        &["--max-weight", "0.2"],
        &["sum to 1, but within their limits they sum to 0 at least and 0.8 at most"],
    );
    refuse(&["--min-weight", "-1"], &["needs --long-short"]);
    refuse(&["--shrinkage", "2"], &["--shrinkage: found 2, expected a number from 0 to 1, or auto"]);
    refuse(&["--frontier", "1"], &["--frontier: found 1, expected 2 points or more"]);
    refuse(&["--current", &data], &["--current has no effect without"]);
    let typo = write(&folder, "typo.csv", "asset,min,max\nbb,0,1\n");
    refuse(&["--limits", &typo], &["line 2: no asset `bb` in the table of prices; did you mean"]);
    let none = write(&folder, "none.csv", "asset,minimum\na,0\n");
    refuse(&["--limits", &none], &["found columns `asset`, `minimum`, expected `min` or `max` among them"]);
    let twice = write(&folder, "twice.csv", "asset,weight\na,0.5\na,0.5\n");
    refuse(&["--current", &twice, "--max-turnover", "1"], &["line 3: asset `a` is in line 2 already"]);
    let word = write(&folder, "word.csv", "asset,weight\na,much\n");
    refuse(
        &["--current", &word, "--max-turnover", "1"],
        &["column `weight`: found \"much\", expected a finite number"],
    );
    let sectors = write(&folder, "sectors.csv", "asset,sector\na,x\n");
    let limits = write(&folder, "limits.csv", "sector,min,max\nz,0,1\n");
    refuse(&["--sectors", &sectors, "--sector-limits", &limits], &["no asset is in sector `z`"]);
    refuse(&["--out", &data], &["it is the input"]);
    refuse(&["--sectors", &sectors, "--sector-limits", &limits, "--plot", &limits], &["it is the input"]);
    let bad = |name: &str, content: &str, words: &[&str]| {
        let path = write(&folder, name, content);
        equipoise(&["portfolio", &path]).expect(2).complains(words);
    };
    bad(
        "zero.csv",
        "date,a\nmon,1\ntue,0\nwed,2\n",
        &["price of `a` on tue: found 0, expected a number above 0"],
    );
    bad("text.csv", "date,a\nmon,1\ntue,x1\nwed,2\n", &["column `a`: found", "x1"]);
    bad("same.csv", "date,a,a\nmon,1,1\ntue,2,2\nwed,3,3\n", &["the name `a`"]);
    bad("few.csv", "date,a,b\nmon,1,1\ntue,2,2\n", &["1 returns are left of 2 rows, expected at least 2"]);
    let few = write(&folder, "wide.csv", "date,a,b,c\nmon,1,1,2\ntue,2,2,3\nwed,3,2,5\n");
    let wide = equipoise(&["portfolio", &few]);
    assert!(wide.stderr.contains("warning: 2 returns for 3 assets"), "{}", wide.stderr);
}

/// Against Clarabel 0.11, at 1e-12.
mod public_data {
    use super::*;

    #[test]
    #[ignore = "needs EQUIPOISE_DATA, the public data sets"]
    fn twenty_stocks_have_the_variances_that_clarabel_finds() {
        let path = text(&equipoise_testkit::public_data::path("portfolio/sp500_dataset.csv.gz"));
        let run = |typed: &[&str]| {
            equipoise(&[&["portfolio", &path, "--json"][..], typed].concat()).expect(0).json()
        };
        for ((typed, variance), weights) in CASES.into_iter().zip(WEIGHTS) {
            let json = run(typed);
            let found = number(&json["variance"]);
            assert!((found / variance - 1.0).abs() < 1e-7, "{typed:?}: {found} for {variance}");
            assert_eq!((&json["assets"], &json["days"]), (&20.into(), &8312.into()));
            // Weights are as near as the root of the gap.
            let sharp = run(&[typed, &["--gap", "1e-9"]].concat());
            for (name, weight) in NAMES.split(' ').zip(weights) {
                let found = number(&sharp["weights"][name]);
                assert!((found - weight).abs() < 1e-6, "{typed:?}: {name} has {found} for {weight}");
            }
        }
        let points = run(&["--frontier", "50", "--gap", "1e-9"]);
        assert_eq!(points["points"].as_array().map(Vec::len), Some(50));
    }

    const CASES: [(&[&str], f64); 6] = [
        (&[], 0.00010133834887864517),
        (&["--target-return", "0.0008"], 0.00012617590815980557),
        (&["--max-weight", "0.1"], 0.00010491616523567406),
        (&["--max-weight", "0.15", "--target-return", "0.0009"], 0.00015607193222890266),
        (&["--long-short"], 0.00010038415521280308),
        (&["--long-short", "--min-weight", "-0.2", "--target-return", "0.001"], 0.00016693748793375658),
    ];

    const NAMES: &str = "AAPL AMD BAC BBY CVX GE HD JNJ JPM KO LLY MRK MSFT PEP PFE PG RRC UNH WMT XOM";

    /// Of every case, in the order of the names.
    #[rustfmt::skip]
    const WEIGHTS: [[f64; 20]; 6] = [
        [
            0.026038084, 0.0, 0.0, 0.006889215, 0.071589483, 0.0, 0.0, 0.197854397, 0.0, 0.120836644,
            0.030052275, 0.021055097, 0.010004788, 0.113667178, 0.011746519, 0.165787899, 0.009861818, 0.009688307, 0.115695039, 0.089233257,
        ],
        [
            0.076357026, 0.0, 0.0, 0.068071325, 0.036474654, 0.0, 0.027886167, 0.155720928, 0.0, 0.038900729,
            0.039395793, 0.0, 0.095488982, 0.088740232, 0.004875888, 0.128814023, 0.038782874, 0.144973847, 0.045058019, 0.010459515,
        ],
        [
            0.032286092, 0.0, 0.0, 0.012844569, 0.1, 0.0, 0.003759155, 0.1, 0.0, 0.1,
            0.066060354, 0.065510225, 0.029067797, 0.1, 0.05452481, 0.1, 0.009203701, 0.026743296, 0.1, 0.1,
        ],
        [
            0.11208625, 0.002974331, 0.0, 0.107872324, 0.0, 0.0, 0.069810697, 0.130913249, 0.0, 0.0,
            0.048822917, 0.0, 0.15, 0.066609132, 0.000342496, 0.103105352, 0.057463253, 0.15, 0.0, 0.0,
        ],
        [
            0.030526139, -0.00203308, -0.026287695, 0.013011264, 0.083345653, -0.001971876, -0.013689987, 0.194822042, -0.02040415, 0.124226736,
            0.031422089, 0.023810705, 0.019713739, 0.114808269, 0.017360897, 0.168400068, 0.011318495, 0.015131042, 0.12381342, 0.092676229,
        ],
        [
            0.112958255, 0.010177365, -0.097801481, 0.107603194, 0.061621571, -0.2, 0.097294653, 0.151658823, 0.031090622, 0.020672348,
            0.059887344, -0.059434788, 0.150825046, 0.07620733, 0.039984013, 0.13433508, 0.058298359, 0.220547097, 0.014062228, 0.01001294,
        ],
    ];
}
