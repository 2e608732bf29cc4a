//! The tagged form of a value.

use crate::json::write_string;
use crate::value::data::Data;

/// The tagged JSON of a state: `{"t":"int","v":"7"}` and so on, compact, record labels in byte order.
///
/// A float that is not finite has no form that [`super::decode()`] accepts; states that cross the
/// boundary have none.
pub fn encode(data: &Data) -> String {
    let mut out = String::new();
    let mut jobs = vec![Job::Value(data)];
    while let Some(job) = jobs.pop() {
        match job {
            Job::Value(data) => write(data, &mut out, &mut jobs),
            Job::Text(text) => out.push_str(text),
            Job::Label(label) => {
                write_string(&mut out, label);
                out.push(':');
            }
        }
    }
    out
}

/// What is still to be written, last first: depth costs no native stack.
enum Job<'a> {
    Value(&'a Data),
    Text(&'static str),
    Label(&'a str),
}

fn write<'a>(data: &'a Data, out: &mut String, jobs: &mut Vec<Job<'a>>) {
    match data {
        Data::Unit => out.push_str("{\"t\":\"unit\"}"),
        Data::Bool(value) => {
            out.push_str("{\"t\":\"bool\",\"v\":");
            out.push_str(if *value { "true}" } else { "false}" });
        }
        Data::Int(value) => {
            out.push_str("{\"t\":\"int\",\"v\":\"");
            out.push_str(&value.to_string());
            out.push_str("\"}");
        }
        Data::Float(value) => {
            out.push_str("{\"t\":\"float\",\"v\":\"");
            out.push_str(&format!("{value:?}"));
            out.push_str("\"}");
        }
        Data::String(text) => {
            out.push_str("{\"t\":\"string\",\"v\":");
            write_string(out, text);
            out.push('}');
        }
        Data::Array(items) => {
            out.push_str("{\"t\":\"array\",\"v\":[");
            list(items, jobs);
        }
        Data::Record(fields) => {
            out.push_str("{\"t\":\"record\",\"v\":{");
            jobs.push(Job::Text("}}"));
            for (index, (label, value)) in fields.iter().enumerate().rev() {
                jobs.push(Job::Value(value));
                jobs.push(Job::Label(label));
                if index > 0 {
                    jobs.push(Job::Text(","));
                }
            }
        }
        Data::Variant { tag, arguments } => {
            out.push_str("{\"t\":\"variant\",\"tag\":");
            write_string(out, tag);
            out.push_str(",\"v\":[");
            list(arguments, jobs);
        }
    }
}

fn list<'a>(items: &'a [Data], jobs: &mut Vec<Job<'a>>) {
    jobs.push(Job::Text("]}"));
    for (index, item) in items.iter().enumerate().rev() {
        jobs.push(Job::Value(item));
        if index > 0 {
            jobs.push(Job::Text(","));
        }
    }
}
