//! The lines of the formats. Every number is one that the matching reader takes back.

use std::io::{self, Write};

use ninescope_kernel::Ns;
use ninescope_model::{Op, Request, SECTOR_BYTES};

use super::WrittenFormat;
use crate::formats::rows;

/// What the formats that name a host or a file are told: one volume, as ninescope sees the trace.
const VOLUME: &str = "trace";

/// What stands before the first request.
pub(super) fn begin(format: WrittenFormat, sink: &mut impl Write) -> io::Result<()> {
    match format {
        WrittenFormat::Msr | WrittenFormat::MqSim | WrittenFormat::Rows => Ok(()),
        WrittenFormat::Fio => write!(sink, "fio version 3 iolog\n0 {VOLUME} add\n0 {VOLUME} open\n"),
    }
}

/// The line of one request, whose operation the format knows.
pub(super) fn request(format: WrittenFormat, request: &Request, sink: &mut impl Write) -> io::Result<()> {
    let time = request.submitted.0 / format.time_unit_ns();
    let (lba, sectors, is_read) = (request.lba.0, request.sectors, request.op == Op::Read);
    let (offset, bytes) = (lba * SECTOR_BYTES, u64::from(sectors) * SECTOR_BYTES);
    match format {
        WrittenFormat::Msr => {
            let kind = if is_read { "Read" } else { "Write" };
            writeln!(sink, "{time},{VOLUME},0,{kind},{offset},{bytes},0")
        }
        WrittenFormat::MqSim => writeln!(sink, "{time} 0 {lba} {sectors} {}", u8::from(is_read)),
        WrittenFormat::Fio => writeln!(sink, "{time} {VOLUME} {} {offset} {bytes}", fio_action(request.op)),
        WrittenFormat::Rows => sink.write_all(&rows::record(request)),
    }
}

/// What stands after the last request, which came at `latest`.
pub(super) fn end(format: WrittenFormat, latest: Ns, sink: &mut impl Write) -> io::Result<()> {
    match format {
        WrittenFormat::Msr | WrittenFormat::MqSim | WrittenFormat::Rows => Ok(()),
        WrittenFormat::Fio => writeln!(sink, "{} {VOLUME} close", latest.0 / format.time_unit_ns()),
    }
}

fn fio_action(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "sync",
    }
}
