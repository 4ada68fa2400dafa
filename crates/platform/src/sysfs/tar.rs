//! The files of a tar archive, in memory: POSIX.1-1988 headers as every tar writes them, with the
//! long names of GNU tar and of pax. Links are left out: nothing that is read stands behind one.

use std::collections::BTreeMap;
use std::io::Read;

const BLOCK: usize = 512;
/// Most entries: 1024 CPUs have some 60 files each.
const MAX_ENTRIES: usize = 200_000;
/// Most bytes that are kept, and of names.
const MAX_KEPT_BYTES: u64 = 256 << 20;
const MAX_NAME_BYTES: u64 = 4096;

/// The files by path without `./` at the front; of each at most one byte more than `limit`.
pub(super) fn files(
    mut from: impl Read,
    limit: u64,
) -> Result<BTreeMap<String, Option<Vec<u8>>>, String> {
    let mut files = BTreeMap::new();
    let mut long_name = None;
    let (mut kept, mut entries) = (0, 0);
    let mut header = [0; BLOCK];
    while next_header(&mut from, &mut header)? {
        entries += 1;
        if entries > MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES} entries"));
        }
        let size = size(&header)?;
        let sort = header[156];
        if matches!(sort, b'L' | b'x') {
            let text = content(&mut from, size, MAX_NAME_BYTES)?;
            long_name = match sort {
                b'L' => Some(text_of(&text)),
                _ => pax_path(&text).or(long_name),
            };
            continue;
        }
        let name = long_name.take().unwrap_or_else(|| own_name(&header));
        let name = name.trim_start_matches("./").trim_matches('/').to_owned();
        match sort {
            0 | b'0' => {
                let bytes = content(&mut from, size, limit + 1)?;
                kept += bytes.len() as u64;
                if kept > MAX_KEPT_BYTES {
                    return Err(format!("its files have more than {MAX_KEPT_BYTES} bytes"));
                }
                files.insert(name, Some(bytes));
            }
            b'5' => {
                files.insert(name, None);
            }
            _ => drop(content(&mut from, size, 0)?),
        }
    }
    Ok(files)
}

/// The next header; false at the end (a block of zeros, or nothing).
fn next_header(from: &mut impl Read, header: &mut [u8; BLOCK]) -> Result<bool, String> {
    let mut got = 0;
    while got < BLOCK {
        match from.read(&mut header[got..]) {
            Ok(0) if got == 0 => return Ok(false),
            Ok(0) => return Err("it ends inside a header".to_owned()),
            Ok(count) => got += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    if header.iter().all(|byte| *byte == 0) {
        return Ok(false);
    }
    // The sum is taken with blanks in its own place.
    let sum: u64 = (0..BLOCK)
        .map(|at| match at {
            148..156 => u64::from(b' '),
            _ => u64::from(header[at]),
        })
        .sum();
    match octal(&header[148..156]) {
        Some(stated) if stated == sum => Ok(true),
        _ => Err("it is no tar archive (a header's check sum is wrong)".to_owned()),
    }
}

fn size(header: &[u8; BLOCK]) -> Result<u64, String> {
    octal(&header[124..136]).ok_or_else(|| "an entry's size is no number".to_owned())
}

/// Octal digits up to a blank or zero.
fn octal(field: &[u8]) -> Option<u64> {
    let text = text_of(field);
    let text = text.trim();
    match text {
        "" => Some(0),
        _ => u64::from_str_radix(text, 8).ok(),
    }
}

fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

fn own_name(header: &[u8; BLOCK]) -> String {
    let name = text_of(&header[..100]);
    let prefix = text_of(&header[345..500]);
    let posix = &header[257..263] == b"ustar\0";
    match posix && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    }
}

/// The `path` of a pax header: records of `LENGTH KEY=VALUE`.
fn pax_path(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let mut records = text.lines().filter_map(|line| line.split_once(' '));
    let path = records.find_map(|(_, record)| record.strip_prefix("path="))?;
    Some(path.to_owned())
}

/// An entry's content, of which the first `keep` bytes are returned.
fn content(from: &mut impl Read, size: u64, keep: u64) -> Result<Vec<u8>, String> {
    let padded = size
        .checked_next_multiple_of(BLOCK as u64)
        .ok_or("an entry of impossible size")?;
    let mut bytes = Vec::new();
    let error = |error: std::io::Error| error.to_string();
    let kept = keep.min(size);
    from.take(kept).read_to_end(&mut bytes).map_err(error)?;
    let rest = padded - kept;
    let skipped = std::io::copy(&mut from.take(rest), &mut std::io::sink()).map_err(error)?;
    if bytes.len() as u64 != kept || skipped != rest {
        return Err("it ends inside a file".to_owned());
    }
    Ok(bytes)
}
