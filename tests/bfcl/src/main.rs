//! Binary that prints the report of the comparison. It exits with an error if the comparison found a difference.

use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let findings = runtime.block_on(bfcl::compare::compare())?;
    print!("{findings}");
    Ok(if findings.misses.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
