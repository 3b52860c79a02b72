mod documents;

use anyhow::Context;

use super::*;

#[test]
fn the_definition_of_the_arguments_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn an_error_and_its_causes_are_one_line() {
    let error = Err::<(), _>(anyhow::anyhow!("no such file\n  (os error 2)")).context("rally.toml").unwrap_err();
    assert_eq!(one_line(&error), "rally.toml: no such file (os error 2)");
}
