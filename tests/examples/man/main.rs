//! Writes the manual pages of both programs into a folder, for `cargo xtask man`.

mod pages;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: man FOLDER");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&folder)?;
    for page in pages::all()? {
        let file = folder.join(page.file());
        std::fs::write(&file, &page.roff)?;
        let about = page.command.get_about().map(ToString::to_string);
        println!("{}: {}", file.display(), about.unwrap_or_default());
    }
    Ok(())
}
