use crate::adaptor::problem;
use equipoise::*;
#[test]
fn debug_lp() {
    for inst in equipoise_testkit::random::suite().iter().filter(|i| i.name.starts_with("linear/box/row/boundaries")) {
        let p = problem(inst).unwrap();
        println!("{} start infeas {:?}", inst.name, p.coupling().infeasibility(p.start()));
        for m in [Method::Pairs, Method::Auto] { for k in [1,2,4,8,16,32,33,64] {
            let s = solve(&p, &Settings{max_updates:Some(k),method:m,..Settings::default()}).unwrap();
            println!("{m:?} {k} {} obj {} inf {:e}", s.status, s.certificate.objective, s.certificate.infeasibility);
        }}
    }
}
