//! Manual pages from the command lines themselves, so that they are never behind.

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// One page of section 1.
pub struct Page {
    /// Words of the command joined by hyphens: `chatmdc-check`.
    pub name: String,
    /// The page.
    pub roff: String,
    /// What it describes.
    pub command: Command,
}

impl Page {
    /// The name of its file.
    pub fn file(&self) -> String {
        format!("{}.1", self.name)
    }
}

/// A page for each program and for each of its commands, at every depth.
///
/// # Errors
/// None that a `Vec` as output can cause.
pub fn all() -> std::io::Result<Vec<Page>> {
    let mut pages = Vec::new();
    let programs = [chatmdc::args::Cli::command(), chatmd::args::Cli::command()];
    for mut program in programs {
        program.build();
        let source = format!(
            "{} {}",
            program.get_name(),
            program.get_version().unwrap_or_default()
        );
        let mut open = vec![(program.get_name().to_owned(), program)];
        while let Some((name, command)) = open.pop() {
            for inner in command.get_subcommands() {
                let name = format!("{name}-{}", inner.get_name());
                open.push((name, inner.clone()));
            }
            let roff = render(&name, &command, &source)?;
            pages.push(Page {
                name,
                roff,
                command,
            });
        }
    }
    pages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(pages)
}

fn render(name: &str, command: &Command, source: &str) -> std::io::Result<String> {
    let man = Man::new(command.clone().display_name(name));
    let mut text = Vec::new();
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        let mut roff = Roff::new();
        roff.control("SH", ["COMMANDS"]);
        for inner in command.get_subcommands() {
            let about = inner.get_about().map(ToString::to_string);
            roff.control("TP", []);
            roff.text([roman(format!("{name}-{}(1)", inner.get_name()))]);
            roff.text([roman(about.unwrap_or_default())]);
        }
        roff.to_writer(&mut text)?;
    }
    if let Some(end) = command.get_after_help() {
        sections(&end.to_string()).to_writer(&mut text)?;
    }
    // Empty lines between line breaks are paragraphs already.
    let body = String::from_utf8_lossy(&text).replace("\n.br\n\n.br\n", "\n.sp\n");
    let title = name.to_uppercase().replace('-', "\\-");
    Ok(format!(
        ".TH \"{title}\" \"1\" \"\" \"{source}\" \"ChatMD\"\n{body}"
    ))
}

/// The end of a help page: `Exit codes:` and `Example:`, each followed by lines to be kept as they
/// are.
fn sections(end: &str) -> Roff {
    let mut roff = Roff::new();
    let mut open = false;
    for line in end.lines() {
        let title = match line.trim_end() {
            "Exit codes:" => Some("EXIT STATUS"),
            "Example:" | "Examples:" => Some("EXAMPLES"),
            "" => continue,
            _ => None,
        };
        if let Some(title) = title {
            if open {
                roff.control("fi", []);
            }
            roff.control("SH", [title]);
            roff.control("nf", []);
            open = true;
        } else {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
    }
    if open {
        roff.control("fi", []);
    }
    roff
}
