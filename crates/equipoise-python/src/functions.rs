//! A smooth term that is Python functions: value, gradient, and perhaps products with the Hessian.
//!
//! ```text
//! f(x),  grad f(x),  (Hessian at x) v;      majorant: L times the identity, L given or measured at the start
//! ```
//!
//! x is one block: what moves is all of it, by proximal steps whose size adapts (so that an L that is too small does no harm) and,
//! with Hessian products, by second-order steps. There is no conjugate, so the KKT residual certifies.
//!
//! An exception ends the run and is let out of it; until the run has ended the term answers with NaN, or not at all.

use std::sync::{Arc, Mutex, PoisonError};

use equipoise::smooth::{PairTerm, SmoothTerm};
use equipoise::{Control, Halt, Pass};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Answered, refused};
use crate::options::numbers;
use crate::running::Ending;

/// Products by which the curvature is measured.
const POWER_STEPS: usize = 8;
/// How far from the start the gradient is looked at, relative to its size.
const REACH: f64 = 1e-4;

/// f as functions.
#[derive(Debug)]
pub(crate) struct Function {
    dimension: usize,
    value: Py<PyAny>,
    gradient: Py<PyAny>,
    hessian_product: Option<Py<PyAny>>,
    /// L; none: to be measured.
    curvature: Option<f64>,
    start: Vec<f64>,
    ending: Arc<Ending>,
    /// The last x, and the gradient there: partial derivatives are asked for one after the other.
    last: Mutex<Option<(Vec<f64>, Vec<f64>)>>,
}

impl Clone for Function {
    fn clone(&self) -> Self {
        Python::attach(|py| Self {
            dimension: self.dimension,
            value: self.value.clone_ref(py),
            gradient: self.gradient.clone_ref(py),
            hessian_product: self.hessian_product.as_ref().map(|function| function.clone_ref(py)),
            curvature: self.curvature,
            start: self.start.clone(),
            ending: Arc::clone(&self.ending),
            last: Mutex::default(),
        })
    }
}

impl Function {
    /// From `{"kind": "function", "dimension": n, "value": f, "gradient": g, "hessian_product": None, "curvature": None, "start": None}`.
    pub(crate) fn of(dict: &Bound<'_, PyDict>, ending: &Arc<Ending>) -> PyResult<Self> {
        let known = ["kind", "dimension", "value", "gradient", "hessian_product", "curvature", "start"];
        for key in dict.keys() {
            let key: String = key.extract()?;
            if !known.contains(&key.as_str()) {
                return Err(refused(format!("a function has no key {key:?}; known: {}", known.join(", "))));
            }
        }
        let given = |key: &str| Ok::<_, PyErr>(dict.get_item(key)?.filter(|value| !value.is_none()));
        let callable = |key: &str| {
            let function = given(key)?;
            match &function {
                Some(function) if !function.is_callable() => {
                    Err(refused(format!("{key} of a function cannot be called")))
                }
                _ => Ok(function.map(Bound::unbind)),
            }
        };
        let need = |key: &str| callable(key)?.ok_or_else(|| refused(format!("a function needs its {key}")));
        let dimension: usize = match given("dimension")? {
            Some(dimension) => dimension.extract()?,
            None => return Err(refused("a function needs its dimension, the length of x")),
        };
        let curvature: Option<f64> = given("curvature")?.map(|number| number.extract()).transpose()?;
        if let Some(found) = curvature.filter(|found| !(*found > 0.0 && found.is_finite())) {
            return Err(refused(format!(
                "the curvature of a function is {found}; allowed: a finite number above 0"
            )));
        }
        let start = given("start")?.map(|start| numbers("start", &start)).transpose()?;
        let start = start.unwrap_or_else(|| vec![0.0; dimension]);
        if dimension == 0 || start.len() != dimension {
            let found = start.len();
            return Err(refused(format!("a function of {dimension} variables has a start of {found}")));
        }
        Ok(Self {
            dimension,
            value: need("value")?,
            gradient: need("gradient")?,
            hessian_product: callable("hessian_product")?,
            curvature,
            start,
            ending: Arc::clone(ending),
            last: Mutex::default(),
        })
    }

    /// The same with its curvature known.
    pub(crate) fn measured(mut self) -> Answered<Self> {
        if self.curvature.is_none() {
            self.curvature = Some(self.measure()?);
        }
        Ok(self)
    }

    /// The largest curvature near the start, by power steps on differences of the gradient.
    fn measure(&self) -> Answered<f64> {
        let here = self.gradient_at(&self.start)?;
        let size = 1.0 + self.start.iter().map(|x| x * x).sum::<f64>().sqrt();
        let step = REACH * size;
        // Any direction that favours no coordinate.
        let mut v: Vec<f64> =
            (0..self.dimension).map(|c| if c % 3 == 1 { -1.0 } else { 1.0 + c as f64 % 0.7 }).collect();
        let mut most: f64 = 0.0;
        for _ in 0..POWER_STEPS {
            let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            if !(norm > 0.0 && norm.is_finite()) {
                break;
            }
            let x: Vec<f64> = self.start.iter().zip(&v).map(|(x, v)| x + step * v / norm).collect();
            let there = self.gradient_at(&x)?;
            v = there.iter().zip(&here).map(|(there, here)| (there - here) / step).collect();
            most = most.max(v.iter().map(|v| v * v).sum::<f64>().sqrt());
        }
        Ok(if most > 0.0 && most.is_finite() { most } else { 1.0 })
    }

    /// Calls a function with arrays and reads its answer; an exception is kept, and ends the run.
    fn ask<T>(
        &self,
        function: &Py<PyAny>,
        lists: &[&[f64]],
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, Halt> {
        if self.ending.is_raised() {
            return Err(Halt::Interrupted);
        }
        let answer = Python::attach(|py| {
            let arrays: Vec<_> = lists.iter().map(|list| PyArray1::from_slice(py, list)).collect();
            let function = function.bind(py);
            let answer = match &arrays[..] {
                [x] => function.call1((x,))?,
                [x, v] => function.call1((x, v))?,
                _ => function.call0()?,
            };
            let answer = read(&answer)?;
            py.check_signals()?;
            Ok(answer)
        });
        answer.map_err(|error| {
            self.ending.raise(error);
            Halt::Interrupted
        })
    }

    fn vector(&self, name: &str, answer: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let list = numbers(name, answer)?;
        if list.len() == self.dimension {
            return Ok(list);
        }
        Err(refused(format!(
            "{name} has {} entries; expected {}, one a variable",
            list.len(),
            self.dimension
        )))
    }

    fn gradient_at(&self, x: &[f64]) -> Result<Vec<f64>, Halt> {
        if let Some((at, gradient)) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && at == x
        {
            return Ok(gradient.clone());
        }
        let gradient = self.ask(&self.gradient, &[x], |answer| self.vector("the gradient", answer))?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((x.to_vec(), gradient.clone()));
        Ok(gradient)
    }
}

impl PairTerm for Function {
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn partial(&self, c: usize, x: &[f64], _product: &[f64]) -> f64 {
        self.gradient_at(x).map_or(f64::NAN, |gradient| gradient[c])
    }
    fn curvature(&self, _c: usize) -> f64 {
        self.curvature.unwrap_or(1.0)
    }
    fn interaction(&self, _i: usize, _j: usize) -> Option<f64> {
        Some(0.0)
    }
}

impl SmoothTerm for Function {
    fn value(&self, x: &[f64], _product: &[f64]) -> f64 {
        let read = |answer: &Bound<'_, PyAny>| {
            let words = |_| {
                refused(format!(
                    "the value of a function is {}; expected a number",
                    crate::options::sort_of(answer)
                ))
            };
            answer.extract::<f64>().map_err(words)
        };
        self.ask(&self.value, &[x], read).unwrap_or(f64::NAN)
    }
    fn gradient(&self, x: &[f64], _product: &[f64], out: &mut [f64], _control: &Control) -> Pass {
        out.copy_from_slice(&self.gradient_at(x)?);
        Ok(())
    }
    fn hessian_product(
        &self,
        x: &[f64],
        _product: &[f64],
        v: &[f64],
        out: &mut [f64],
        _control: &Control,
    ) -> Pass<bool> {
        let Some(function) = &self.hessian_product else { return Ok(false) };
        out.copy_from_slice(
            &self.ask(function, &[x, v], |answer| self.vector("the Hessian product", answer))?,
        );
        Ok(true)
    }
}
