//! What is inside a kernel image: the kernel and its type information, packed in a different way on
//! each architecture.
//!
//! Layouts: x86 `bzImage`, Documentation/arch/x86/boot.rst (`payload_offset`); arm64 `Image`,
//! Documentation/arch/arm64/booting.rst; a packed EFI image,
//! drivers/firmware/efi/libstub/zboot.lds.
//!
//! What must stay: bytes of an image are hostile: offsets are checked, sizes bounded. Free: further
//! ways of packing.
//!
//! Tests by part: `a_raw_arm64_image_gives_its_own_types` (`btf`, `btf_of`, `search_btf`),
//! `a_packed_arm64_image_is_unpacked` (`unpacked`, `payload_arm64`, `unpack`),
//! `the_payload_of_a_bzimage_is_where_its_header_says` (`payload_x86`, `u32_at`).
//!
//! Callers: kernels.rs and own.rs (`btf`, `btf_of`), modules.rs (`unpack`). The page is
//! docs/guide/lab.md.
//!
//! Tests: below

use crate::{Arch, LabError};
use flate2::read::GzDecoder;
use object::{Object as _, ObjectSection as _};
use std::borrow::Cow;
use std::io::Read;

pub(crate) mod config;
pub(crate) mod kind;

/// Most bytes that a kernel is unpacked to; the largest one seen has 70 MB.
const MAX_KERNEL_BYTES: u64 = 512 << 20;
/// What is unpacked, for messages.
const IMAGE: &str = "kernel image";
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Little-endian BTF version 1 with its usual header of 24 bytes (Documentation/bpf/btf.rst).
const BTF_HEADER: [u8; 8] = [0x9f, 0xeb, 1, 0, 24, 0, 0, 0];
/// A whole kernel's types take megabytes; shorter blobs in an image are those of test data.
const MIN_BTF_TYPES_BYTES: usize = 100_000;

/// Cuts the type information out of a kernel image.
///
/// # Errors
/// When the image has another layout than the architecture's, or no type information.
pub(crate) fn btf(arch: Arch, image: &[u8]) -> Result<Vec<u8>, LabError> {
    btf_of(arch, &unpacked(arch, image)?)
}

/// Gives the type information of a kernel that is [`unpacked`].
///
/// # Errors
/// When it has none.
pub(crate) fn btf_of(arch: Arch, kernel: &[u8]) -> Result<Vec<u8>, LabError> {
    match arch {
        Arch::X86_64 => {
            let bad = |why: &str| LabError::damaged("vmlinux", why);
            let file = object::File::parse(kernel)
                .map_err(|error| bad(&format!("no ELF file: {error}")))?;
            let section = file
                .section_by_name(".BTF")
                .ok_or_else(|| bad("no section .BTF"))?;
            let data = section
                .data()
                .map_err(|error| bad(&format!(".BTF: {error}")))?;
            Ok(data.to_vec())
        }
        Arch::Arm64 => {
            let found = search_btf(kernel);
            found.ok_or_else(|| LabError::damaged("arm64 Image", "no type information in it"))
        }
    }
}

/// The kernel as it will be in memory: an ELF file on x86, the plain `Image` on arm64.
///
/// # Errors
/// When the image has another layout than the architecture's, or is packed in an unknown way.
pub(crate) fn unpacked(arch: Arch, image: &[u8]) -> Result<Cow<'_, [u8]>, LabError> {
    match arch {
        Arch::X86_64 => unpack(IMAGE, payload_x86(image)?).map(Cow::Owned),
        Arch::Arm64 => match payload_arm64(image)? {
            Some(packed) => unpack(IMAGE, packed).map(Cow::Owned),
            None => Ok(Cow::Borrowed(image)),
        },
    }
}

/// The packed kernel inside a bzImage.
fn payload_x86(image: &[u8]) -> Result<&[u8], LabError> {
    let bad = |why: &str| LabError::damaged("bzImage", why);
    if image.get(0x202..0x206) != Some(b"HdrS") {
        return Err(bad("no setup header `HdrS`"));
    }
    let sectors = match image[0x1f1] {
        0 => 4, // so old loaders wrote it
        count => usize::from(count),
    };
    let word = |at| u32_at(image, at).ok_or_else(|| bad("it is cut short"));
    let start = (sectors + 1) * 512 + word(0x248)?;
    image
        .get(start..start + word(0x24c)?)
        .ok_or_else(|| bad("it is cut short"))
}

/// The packed kernel inside an EFI program or a gzip file; none if the image is plain.
fn payload_arm64(image: &[u8]) -> Result<Option<&[u8]>, LabError> {
    let bad = |why: &str| LabError::damaged("arm64 Image", why);
    if image.starts_with(&GZIP) {
        return Ok(Some(image));
    }
    if image.get(4..8) == Some(b"zimg") {
        let word = |at| u32_at(image, at).ok_or_else(|| bad("it is cut short"));
        let start = word(8)?;
        let packed = image.get(start..start + word(12)?);
        return packed.map(Some).ok_or_else(|| bad("it is cut short"));
    }
    match image.get(56..60) {
        Some(b"ARM\x64") => Ok(None),
        _ => Err(bad("neither plain nor packed in a known way")),
    }
}

/// Little-endian; None: not all of it is there.
fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}

/// Unpacks by the packer's own mark.
pub(crate) fn unpack(what: &str, packed: &[u8]) -> Result<Vec<u8>, LabError> {
    let bad = |why: String| LabError::damaged(what, why);
    let mut plain = Vec::new();
    let read = if packed.starts_with(&ZSTD) {
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed)
            .map_err(|error| bad(format!("zstd: {error}")))?;
        decoder.take(MAX_KERNEL_BYTES).read_to_end(&mut plain)
    } else if packed.starts_with(&GZIP) {
        GzDecoder::new(packed)
            .take(MAX_KERNEL_BYTES)
            .read_to_end(&mut plain)
    } else {
        let mark = packed.get(..4).unwrap_or(packed);
        return Err(bad(format!(
            "packed in an unknown way, {mark:02x?}; expected zstd or gzip"
        )));
    };
    read.map_err(|error| bad(format!("cannot be unpacked: {error}")))?;
    Ok(plain)
}

/// The kernel's own type information in a raw image. None: there is none.
fn search_btf(image: &[u8]) -> Option<Vec<u8>> {
    let mut from = 0;
    loop {
        let rest = image.get(from..)?;
        let at = from
            + rest
                .windows(BTF_HEADER.len())
                .position(|window| window == BTF_HEADER)?;
        let word = |offset| u32_at(image, at + offset);
        let (types, strings_at, strings) = (word(12)?, word(16)?, word(20)?);
        if types >= MIN_BTF_TYPES_BYTES
            && let Some(blob) = image.get(at..at + 24 + strings_at + strings)
        {
            return Some(blob.to_vec());
        }
        from = at + BTF_HEADER.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).expect("packed");
        encoder.finish().expect("packed")
    }

    /// A header and as many bytes as it promises.
    fn blob(types: u32, strings: u32) -> Vec<u8> {
        let mut blob = BTF_HEADER.to_vec();
        for word in [0, types, types, strings] {
            blob.extend(word.to_le_bytes());
        }
        blob.resize(24 + (types + strings) as usize, 7);
        blob
    }

    fn raw_image() -> Vec<u8> {
        let mut image = vec![0; 64];
        image[56..60].copy_from_slice(b"ARM\x64");
        // A short blob first, as the kernel's own tests have it.
        image.extend(blob(40, 8));
        image.extend(blob(120_000, 10));
        image.extend([0; 100]);
        image
    }

    #[test]
    fn a_raw_arm64_image_gives_its_own_types() {
        assert_eq!(
            btf(Arch::Arm64, &raw_image()).expect("found"),
            blob(120_000, 10)
        );
        let error = btf(Arch::Arm64, &raw_image()[..1000]).expect_err("cut short");
        assert!(error.to_string().contains("no type information"), "{error}");
    }

    #[test]
    fn a_packed_arm64_image_is_unpacked() {
        let packed = gzip(&raw_image());
        assert_eq!(btf(Arch::Arm64, &packed).expect("found"), blob(120_000, 10));
        let mut efi = b"MZ\0\0zimg".to_vec();
        efi.extend(64_u32.to_le_bytes());
        efi.extend(u32::try_from(packed.len()).expect("small").to_le_bytes());
        efi.resize(64, 0);
        efi.extend(&packed);
        assert_eq!(btf(Arch::Arm64, &efi).expect("found"), blob(120_000, 10));
        assert!(btf(Arch::Arm64, &efi[..80]).is_err());
    }

    #[test]
    fn the_payload_of_a_bzimage_is_where_its_header_says() {
        let mut image = vec![0; 0x600];
        image[0x1f1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&0x20_u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&3_u32.to_le_bytes());
        image[0x420..0x423].copy_from_slice(b"abc");
        assert_eq!(payload_x86(&image).expect("a payload"), b"abc");
        assert!(payload_x86(&image[..0x421]).is_err());
        let error = btf(Arch::X86_64, &image).expect_err("not packed");
        assert!(
            error.to_string().contains("expected zstd or gzip"),
            "{error}"
        );
        assert!(btf(Arch::X86_64, &[0; 0x600]).is_err());
    }
}
