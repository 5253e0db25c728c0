//! Models that come back as they were, texts checked by hand, and files that are refused.

use std::path::Path;

use equipoise_models::svm::{Curves, Isotonic, Kind, Loss, ScaleKind, Scaling, Sigmoid, TrainSettings};

use super::*;

/// Two labels, features 1, 3 and 4.
fn two_labels() -> ModelFile {
    let model = LinearModel {
        kind: Kind::Svc,
        loss: Loss::Hinge,
        labels: vec![-1.0, 1.0],
        cost: 0.1,
        nu: 0.5,
        epsilon: 0.1,
        class_weights: Vec::new(),
        weights: vec![vec![0.1 + 0.2, -1e-300, 2.0]],
        bias: vec![-0.25],
    };
    ModelFile { model, features: vec![1, 3, 4] }
}

/// The model of two labels, changed.
fn changed(change: impl FnOnce(&mut LinearModel)) -> ModelFile {
    let mut file = two_labels();
    change(&mut file.model);
    file
}

fn three_labels() -> ModelFile {
    changed(|model| {
        model.labels = vec![-2.0, 0.0, 7.0];
        model.weights = vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]];
        model.bias = vec![0.1, 0.2, 0.3];
    })
}

fn without_labels(kind: Kind) -> ModelFile {
    changed(|model| (model.kind, model.labels) = (kind, Vec::new()))
}

fn json(model: &ModelFile) -> String {
    assert!(model.fault().is_none());
    let mut bytes = Vec::new();
    json::write(&mut bytes, model, &ModelContext::default(), None).expect("memory takes everything");
    String::from_utf8(bytes).expect("text")
}

fn liblinear(model: &ModelFile) -> String {
    let mut bytes = Vec::new();
    liblinear::write(&mut bytes, model).expect("memory takes everything");
    String::from_utf8(bytes).expect("text")
}

fn read_text(text: &str) -> Result<ModelFile> {
    parse(text.as_bytes(), "m")
}

/// Every feature up to the largest, as dense files have them.
fn dense(mut model: ModelFile) -> ModelFile {
    let largest = model.features.last().copied().unwrap_or(0);
    for weights in &mut model.model.weights {
        let mut all = vec![0.0; largest as usize];
        model
            .features
            .iter()
            .zip(&*weights)
            .for_each(|(&feature, &weight)| all[feature as usize - 1] = weight);
        *weights = all;
    }
    model.features = (1..=largest).collect();
    model
}

#[test]
fn json_by_hand() {
    let expected = "{\"format\":\"equipoise-svm\",\"version\":1,\"kind\":\"svc\",\"loss\":\"hinge\",\"labels\":[-1.0,1.0],\
                    \"cost\":0.1,\"nu\":0.5,\"epsilon\":0.1,\"bias\":[-0.25],\
                    \"weights\":[[0.30000000000000004,0.0,-1e-300,2.0]]}\n";
    assert_eq!(json(&two_labels()), expected);
}

#[test]
fn json_comes_back_bit_for_bit() {
    let kinds = [without_labels(Kind::Svr), without_labels(Kind::OneClass)];
    for model in kinds.into_iter().chain([two_labels(), three_labels()]) {
        assert_eq!(read_text(&json(&model)).expect("a model"), dense(model));
    }
    // A generator of awkward numbers: every bit of the fraction is used.
    let mut state = 1_u64;
    let weights = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f64::from_bits((state >> 12) | (0x3ff ^ (state % 1024)) << 52)
    });
    let mut model = changed(|model| model.weights = vec![weights.take(1000).collect()]);
    model.features = (1..=1000).collect();
    assert_eq!(read_text(&json(&model)).expect("a model"), model);
}

#[test]
fn features_are_named_only_where_a_dense_list_would_be_wasteful() {
    let far = |last| ModelFile { features: vec![1, 3, last], ..two_labels() };
    let (dense_text, sparse_text) = (json(&far(1_000_030)), json(&far(1_000_031)));
    assert!(!dense_text.contains("features"));
    assert_eq!(read_text(&dense_text).expect("a model").features.len(), 1_000_030);
    assert!(sparse_text.contains("\"features\":[1,3,1000031]"), "{sparse_text}");
    assert_eq!(read_text(&sparse_text).expect("a model"), far(1_000_031));
    let largest = far(u32::MAX);
    assert_eq!(read_text(&json(&largest)).expect("a model"), largest);
}

#[test]
fn a_model_without_features_is_a_bias() {
    let model = ModelFile { features: Vec::new(), ..changed(|model| model.weights = vec![Vec::new()]) };
    assert_eq!(read_text(&json(&model)).expect("a model"), model);
}

/// Positive for 1, which therefore stands first; the last number is the bias.
const BY_HAND: &str = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 4\nbias 1\nw\n\
                       0.30000000000000004 \n0 \n-1e-300 \n2.0 \n-0.25 \n";

#[test]
fn liblinear_by_hand() {
    assert_eq!(liblinear(&two_labels()), BY_HAND);
    let one_class = "solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 4\nbias -1\nrho 0.25\nw\n\
                     0.30000000000000004 \n0 \n-1e-300 \n2.0 \n";
    assert_eq!(liblinear(&without_labels(Kind::OneClass)), one_class);
    let regression = BY_HAND.replace("SVC_DUAL", "SVR_DUAL").replace("label 1 -1\n", "");
    assert_eq!(liblinear(&without_labels(Kind::Svr)), regression);
    let three = liblinear(&three_labels());
    assert!(three.contains("nr_class 3\nlabel -2 0 7\n"), "{three}");
    assert!(
        three.ends_with("w\n1.0 4.0 7.0 \n0 0 0 \n2.0 5.0 8.0 \n3.0 6.0 9.0 \n0.1 0.2 0.3 \n"),
        "{three}"
    );
    let squared = changed(|model| model.loss = Loss::SquaredHinge);
    assert!(liblinear(&squared).starts_with("solver_type L2R_L2LOSS_SVC_DUAL\n"));
    let nu = changed(|model| model.kind = Kind::NuSvc);
    assert_eq!(liblinear(&nu), BY_HAND);
}

#[test]
fn liblinear_comes_back() {
    let kinds = [without_labels(Kind::Svr), without_labels(Kind::OneClass)];
    for model in kinds.into_iter().chain([two_labels(), three_labels()]) {
        // What the text does not say has its default.
        let mut expected = dense(model.clone());
        let TrainSettings { cost, nu, epsilon, .. } = TrainSettings::default();
        (expected.model.cost, expected.model.nu, expected.model.epsilon) = (cost, nu, epsilon);
        assert_eq!(read_text(&liblinear(&model)).expect("a model"), expected);
    }
}

#[test]
fn the_order_of_liblinear_s_labels_does_not_matter() {
    let turned = BY_HAND.replace("label 1 -1", "label -1 1");
    let model = read_text(&turned).expect("a model").model;
    assert_eq!((model.labels, model.bias), (vec![-1.0, 1.0], vec![0.25]));
    assert_eq!(model.weights[0][3], -2.0);
    let text =
        "solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 7 -2 0\nnr_feature 1\nbias 2\nw\n1 2 3\n10 20 30\n";
    let model = read_text(text).expect("a model").model;
    assert_eq!((model.labels, model.loss), (vec![-2.0, 0.0, 7.0], Loss::SquaredHinge));
    assert_eq!((model.weights, model.bias), (vec![vec![2.0], vec![3.0], vec![1.0]], vec![40.0, 60.0, 20.0]));
}

#[test]
fn liblinear_without_a_bias() {
    let text = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 3 2\nnr_feature 2\nbias -1\nw\n1\n2\n";
    let model = read_text(text).expect("a model").model;
    assert_eq!((model.weights, model.bias), (vec![vec![1.0, 2.0]], vec![0.0]));
}

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let error = read_text(text).expect_err("refused").to_string();
    for word in ["m: "].iter().chain(words) {
        assert!(error.contains(word), "no {word:?} in {error:?}");
    }
    assert!(!error.ends_with('.') && !error.contains('\n'), "{error}");
}

#[test]
fn json_that_is_refused() {
    let good = json(&two_labels());
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replace(from, to)
    };
    refused("", &["line 1"]);
    refused("[1, 2]", &["model"]);
    refused("{}", &["`format`: found nothing", "equipoise-svm"]);
    refused(&changed("equipoise-svm", "other"), &["`format`: found \"other\""]);
    refused(&changed("\"version\":1", "\"version\":3"), &["`version`: found 3", "newer equipoise"]);
    refused(&changed("\"version\":1", "\"version\":2"), &["`scaling`: found nothing, expected an object"]);
    refused(&changed("\"version\":1", "\"version\":0"), &["`version`: found 0, expected 1"]);
    refused(&changed("\"version\":1,", ""), &["`version`: found nothing"]);
    refused(&changed("\"svc\"", "\"svm\""), &["`kind`: found \"svm\", expected one of svc, nu-svc"]);
    refused(&changed("\"hinge\"", "\"l1\""), &["`loss`: found \"l1\""]);
    refused(&changed("[-1.0,1.0]", "[1.0]"), &["`labels`: found 1 labels, expected two or more"]);
    refused(&changed("[-1.0,1.0]", "[1.0,-1.0]"), &["`labels[1]`: found -1, expected labels that ascend"]);
    refused(&changed("[-1.0,1.0]", "[1,2,3]"), &["`weights`: found 1 entries, expected 3"]);
    refused(&changed("[-0.25]", "[1, 2]"), &["`bias`: found 2 entries, expected 1"]);
    refused(&changed("\"bias\":[-0.25],", ""), &["`bias`: found nothing, expected a list"]);
    refused(&changed("2.0]]", "null]]"), &["line 1, column", "`weights`: ", "null"]);
    refused(&changed("2.0]]", "1e999]]"), &["`weights`: ", "out of range"]);
    refused(&changed("2.0]]", "2.0], [1]]"), &["`weights`: found 2 entries"]);
    refused(&changed("\"svc\"", "\"svr\""), &["`labels`: found 2 labels, expected none for the kind svr"]);
    let features = |list: &str| changed("\"bias\"", &format!("\"features\":{list},\"bias\""));
    refused(&features("[1,2,3]"), &["`weights[0]`: found 4 numbers, expected 3"]);
    refused(&features("[1,2,2,3]"), &["`features[2]`: found 2, expected numbers that ascend"]);
    refused(&features("[0,1,2,3]"), &["`features[0]`: found 0"]);
    refused(&features("[-1,1,2,3]"), &["`features`: "]);
    read_text(&changed("\"bias\"", "\"later\":{\"a\":[1]},\"bias\"")).expect("unknown fields are skipped");
}

#[test]
fn liblinear_that_is_refused() {
    let changed = |from: &str, to: &str| BY_HAND.replace(from, to);
    refused(&changed("L2R_L1LOSS_SVC_DUAL", "MCSVM_CS"), &["line 1", "MCSVM_CS", "L2R_L1LOSS_SVC_DUAL"]);
    refused(&changed("label 1 -1", "label 1"), &["found 1 labels, expected 2"]);
    refused(&changed("label 1 -1", "label 1 1"), &["labels that ascend"]);
    refused(&changed("nr_class 2", "nr_class 1"), &["nr_class 1"]);
    refused(&changed("nr_class 2", "nr_class x"), &["line 2", "\"x\""]);
    refused(&changed("nr_feature 4", "nr_feature 5"), &["the end of the file", "line 6 of the weights"]);
    refused(&changed("nr_feature 4", "nr_feature 3"), &["line 11", "the end of the file after the weights"]);
    refused(&changed("nr_feature 4", "nr_feature 99999999999"), &["at most 4294967295"]);
    refused(&changed("2.0", "nan"), &["line 10", "\"nan\"", "a finite number"]);
    refused(&changed("2.0", "2.0 3"), &["line 10", "found 2 numbers, expected 1"]);
    refused(&changed("\nw\n", "\nweights\n"), &["\"weights\""]);
    refused("solver_type L2R_L1LOSS_SVC_DUAL\n", &["the end of the file"]);
}

#[test]
fn what_liblinear_cannot_hold() {
    let path = Path::new("m");
    let error = check_liblinear(path, &[-1.0, 0.5], &[1]).expect_err("no integer");
    assert!(error.to_string().contains("`labels[1]`: found 0.5, expected an integer"), "{error}");
    assert!(check_liblinear(path, &[1.0, 3e9], &[1]).is_err());
    assert!(check_liblinear(path, &[1.0, 2.0], &[u32::MAX]).is_err());
    check_liblinear(path, &[1.0, 2.0], &[i32::MAX as u32 - 1]).expect("fits");
}

#[test]
fn numbers_that_are_not_finite_are_not_written() {
    for (model, field) in [
        (changed(|model| model.bias = vec![f64::NAN]), "bias[0]"),
        (changed(|model| model.weights = vec![vec![0.0, f64::INFINITY, 0.0]]), "weights[0][1]"),
        (changed(|model| model.epsilon = f64::NAN), "epsilon"),
    ] {
        let error = write("m", &model, Format::Equipoise).expect_err("refused").to_string();
        assert!(error.contains(field) && error.contains("a finite number"), "{error}");
    }
    assert!(!Path::new("m").exists());
}

#[test]
fn damaged_files_never_panic() {
    for text in [json(&two_labels()), json(&three_labels()), BY_HAND.to_owned(), liblinear(&three_labels())] {
        let bytes = text.as_bytes();
        for place in 0..bytes.len() {
            let _ = parse(&bytes[..place], "m");
            for byte in *b"09-e.,[]{} \n\"\xff" {
                let mut damaged = bytes.to_vec();
                damaged[place] = byte;
                let _ = parse(&damaged, "m");
            }
        }
    }
}

#[test]
fn class_weights_come_back_and_are_written_only_where_there_are_some() {
    assert!(!json(&two_labels()).contains("class_weights"));
    let weighted = changed(|model| model.class_weights = vec![(1.0, 0.1 + 0.2), (-1.0, 3.0)]);
    let text = json(&weighted);
    assert!(text.contains("\"class_weights\":[[1.0,0.30000000000000004],[-1.0,3.0]]"), "{text}");
    assert_eq!(read_text(&text).expect("valid").model.class_weights, weighted.model.class_weights);
    assert!(changed(|model| model.class_weights = vec![(1.0, f64::NAN)]).fault().is_some());
}

/// Everything that can go with the model of two labels.
fn context() -> ModelContext {
    let words = |list: &[&str]| Some(list.iter().map(|&word| word.to_owned()).collect());
    ModelContext {
        feature_names: words(&["width", "say \"x\"", "height"]),
        target: Some("species".into()),
        label_names: words(&["no", "yes"]),
        scaling: Some(Scaling {
            kind: ScaleKind::Standard,
            shift: vec![1.0, 0.0, -2.0],
            factor: vec![2.0, 1.0, 0.5],
        }),
        curves: Some(Curves::Sigmoids(vec![Sigmoid { a: -1.5, b: 0.1 + 0.2 }])),
    }
}

fn with_context(context: &ModelContext) -> String {
    let file = ModelFile { features: vec![1, 2, 3], ..two_labels() };
    assert!(context.fault(&file).is_none());
    let mut bytes = Vec::new();
    json::write(&mut bytes, &file, context, None).expect("memory takes everything");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn what_goes_with_a_model_comes_back() {
    let text = with_context(&context());
    let (file, found, _) = parse_with_context(text.as_bytes(), Path::new("m")).expect("a model");
    assert_eq!((found, file.model.weights), (context(), two_labels().model.weights));
    // Whoever does not ask for a scaling gets a model for rows as they are.
    let raw = read_text(&text).expect("a model").model;
    assert_eq!(raw.weights, [[2.0 * (0.1 + 0.2), -1e-300, 1.0]]);
    assert_eq!(raw.bias, [-0.25 - 2.0 * (0.1 + 0.2) + 2.0]);
    assert!(!json(&two_labels()).contains("scaling"), "version 1 is as it was");
}

#[test]
fn scalings_have_a_place_for_features_that_do_not_occur() {
    let mut bytes = Vec::new();
    let context = ModelContext { feature_names: None, ..context() };
    json::write(&mut bytes, &two_labels(), &context, None).expect("memory takes everything");
    let (file, found, _) = parse_with_context(&bytes, Path::new("m")).expect("a model");
    assert_eq!((file.features.len(), found.scaling.expect("scaled").factor), (4, vec![2.0, 0.0, 1.0, 0.5]));
}

#[test]
fn what_goes_with_a_model_is_checked() {
    let text = with_context(&context());
    for (from, to, words) in [
        ("\"version\":2", "\"version\":1", "`version`: found 1"),
        (
            "\"standard\"",
            "\"stretched\"",
            "`scaling.kind`: found \"stretched\", expected one of standard, min-max",
        ),
        ("\"shift\":[1.0,", "\"shift\":[", "`scaling.shift`: found 2 entries, expected 3"),
        ("[\"no\",\"yes\"]", "[\"no\"]", "`label_names`: found 1 entries, expected 2"),
        ("\"width\",", "", "`feature_names`: found 2 entries, expected 3"),
        ("[[-1.5", "[[1.0, 2.0], [-1.5", "`sigmoids`: found 2 entries, expected 1"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        refused(&text.replace(from, to), &[words]);
    }
}

#[test]
fn rising_steps_come_back_and_others_are_refused() {
    let steps = Isotonic { knots: vec![(-1.5, 0.1), (0.0, 0.1 + 0.2), (2.0, 0.9)] };
    let rising = ModelContext { curves: Some(Curves::Isotonic(vec![steps])), ..context() };
    let text = with_context(&rising);
    let (_, found, _) = parse_with_context(text.as_bytes(), Path::new("m")).expect("a model");
    assert_eq!(found, rising, "every bit");
    let expected = "`isotonic`: found others, expected pairs [f, p] with f ascending and p never falling";
    for (from, to, words) in [
        ("[-1.5,0.1]", "[5.0,0.1]", expected),
        ("[-1.5,0.1]", "[-1.5,0.8]", expected),
        ("[-1.5,0.1]", "[-1.5,-0.1]", expected),
        ("[2.0,0.9]", "[2.0,1.5]", expected),
        ("[[[", "[[], [[", "`isotonic`: found 2 entries, expected 1"),
        (
            "\"isotonic\"",
            "\"sigmoids\":[[1.0,2.0]],\"isotonic\"",
            "`isotonic`: found some, beside `sigmoids`",
        ),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        refused(&text.replace(from, to), &[words]);
    }
}
