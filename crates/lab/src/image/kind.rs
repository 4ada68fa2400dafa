//! What a file that somebody calls a kernel is: an image that the emulator boots, for which
//! architecture, and of which release.
//!
//! Marks: x86 `bzImage`, Documentation/arch/x86/boot.rst (`header`, `version`, `kernel_version`,
//! `xloadflags`); arm64 `Image`, Documentation/arch/arm64/booting.rst; RISC-V,
//! Documentation/arch/riscv/boot-image-header.rst; 32-bit Arm, arch/arm/boot/compressed/head.S; a
//! packed EFI image, drivers/firmware/efi/libstub/zboot-header.S with the machine of its PE header
//! (include/linux/pe.h); U-Boot, tools/mkimage (IH_MAGIC).
//!
//! What must stay: what is no image is said in words that name what it is. Free: words for what is
//! no image, but for those that tests quote.
//!
//! Tests by part: `images_that_boot_have_an_architecture` (`recognise`, `x86`, `efi`, `gzip`),
//! `what_is_no_image_is_said_in_words` (`recognise`: its errors), `the_release_is_the_kernels_own`
//! (`release`, `u16_at`).
//!
//! Callers: own.rs. The page is docs/guide/lab.md.
//!
//! Tests: below

use super::{GZIP, u32_at};
use crate::Arch;
use flate2::read::GzDecoder;
use std::io::Read as _;

/// The first bytes of an image that is packed as a whole have its own mark.
const MARK_BYTES: u64 = 64;
/// `xloadflags`: has a 64-bit entry point.
const XLF_KERNEL_64: usize = 1;
/// The first boot protocol with `xloadflags`.
const PROTOCOL_WITH_FLAGS: usize = 0x20c;
/// PE machines.
const PE_ARM64: usize = 0xaa64;
const PE_RISCV64: usize = 0x5064;
const PE_LOONGARCH64: usize = 0x6264;

/// The architecture of an image that the emulator boots.
///
/// # Errors
/// What the file is instead, in a few words.
pub(crate) fn recognise(bytes: &[u8]) -> Result<Arch, String> {
    let at = |offset: usize, mark: &[u8]| bytes.get(offset..offset + mark.len()) == Some(mark);
    if at(0x202, b"HdrS") {
        return x86(bytes);
    }
    if at(56, b"ARM\x64") {
        return Ok(Arch::Arm64);
    }
    if at(4, b"zimg") {
        return efi(bytes);
    }
    if at(0, &GZIP) {
        return gzip(bytes);
    }
    let other = [
        (at(0, b"\x7fELF"), "an ELF file, as `vmlinux` is"),
        (at(0x30, b"RISCV"), "a kernel for RISC-V"),
        (
            at(0x24, &[0x18, 0x28, 0x6f, 0x01]),
            "a kernel for 32-bit Arm",
        ),
        (at(0, &[0x27, 0x05, 0x19, 0x56]), "an image for U-Boot"),
        (at(0, &super::ZSTD), "packed by zstd"),
        (at(0, b"\xfd7zXZ"), "packed by xz"),
    ];
    let found = other.iter().find(|(is, _)| *is);
    Err(found.map_or("no kernel image", |(_, what)| what).to_owned())
}

/// Only kernels of 64 bits with a boot protocol that says so.
fn x86(bytes: &[u8]) -> Result<Arch, String> {
    let protocol = u16_at(bytes, 0x206).unwrap_or(0);
    let flags = u16_at(bytes, 0x236).unwrap_or(0);
    match protocol >= PROTOCOL_WITH_FLAGS && flags & XLF_KERNEL_64 != 0 {
        true => super::payload_x86(bytes)
            .map(|_| Arch::X86_64)
            .map_err(|_| "a bzImage that is cut short".to_owned()),
        false => Err("a kernel for 32-bit x86".to_owned()),
    }
}

/// By the machine of its PE header.
fn efi(bytes: &[u8]) -> Result<Arch, String> {
    let machine = u32_at(bytes, 0x3c).and_then(|header| u16_at(bytes, header + 4));
    match machine {
        Some(PE_ARM64) => super::payload_arm64(bytes)
            .map(|_| Arch::Arm64)
            .map_err(|_| "a packed arm64 kernel that is cut short".to_owned()),
        Some(PE_RISCV64) => Err("a packed kernel for RISC-V".to_owned()),
        Some(PE_LOONGARCH64) => Err("a packed kernel for LoongArch".to_owned()),
        _ => Err("a packed kernel for another architecture".to_owned()),
    }
}

/// Judges a file that is packed as `Image.gz` is.
fn gzip(bytes: &[u8]) -> Result<Arch, String> {
    let mut start = Vec::new();
    let read = GzDecoder::new(bytes)
        .take(MARK_BYTES)
        .read_to_end(&mut start);
    match read {
        Ok(_) if start.get(56..60) == Some(b"ARM\x64") => Ok(Arch::Arm64),
        _ => Err("a gzip file without an arm64 kernel in it".to_owned()),
    }
}

/// The release of a kernel, as `uname -r` will say it: of the header on x86, else of the kernel's
/// own `Linux version` line.
pub(crate) fn release(arch: Arch, image: &[u8], unpacked: Option<&[u8]>) -> Option<String> {
    const BANNER: &[u8] = b"Linux version ";
    let text = match arch {
        Arch::X86_64 => image.get(u16_at(image, 0x20e)? + 0x200..)?,
        Arch::Arm64 => {
            let kernel = unpacked?;
            // A format of the same words has a percent sign there.
            let is_banner = |at: &usize| {
                kernel[*at..].starts_with(BANNER)
                    && kernel
                        .get(at + BANNER.len())
                        .is_some_and(u8::is_ascii_digit)
            };
            let at = (0..kernel.len()).find(is_banner)?;
            &kernel[at + BANNER.len()..]
        }
    };
    let end = text.iter().position(|byte| matches!(byte, 0 | b' '))?;
    let release = std::str::from_utf8(&text[..end]).ok()?;
    (!release.is_empty()).then(|| release.to_owned())
}

/// Little-endian; None: not all of it is there.
fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk::<2>()?;
    Some(usize::from(u16::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// A bzImage of protocol 2.15 with three packed bytes, and its release behind the header.
    fn bzimage(flags: u8) -> Vec<u8> {
        let mut image = vec![0; 0x600];
        image[0x1f1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x206..0x208].copy_from_slice(&[0x0f, 0x02]);
        image[0x20e..0x210].copy_from_slice(&[0x80, 0x01]);
        image[0x236] = flags;
        image[0x248..0x24c].copy_from_slice(&0x20_u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&3_u32.to_le_bytes());
        image[0x380..0x390].copy_from_slice(b"7.3.4-me (x@y) #");
        image
    }

    fn arm64() -> Vec<u8> {
        let mut image = vec![0; 64];
        image[56..60].copy_from_slice(b"ARM\x64");
        image.extend(b"Linux version %s (%s)\0Linux version 7.3.4-own+ (me@here) #1\0");
        image
    }

    fn gzipped(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).expect("packed");
        encoder.finish().expect("packed")
    }

    fn zboot(machine: u16) -> Vec<u8> {
        let packed = gzipped(&arm64());
        let mut image = b"MZ\0\0zimg".to_vec();
        image.extend(128_u32.to_le_bytes());
        image.extend(u32::try_from(packed.len()).expect("small").to_le_bytes());
        image.resize(128, 0);
        image[0x3c..0x40].copy_from_slice(&0x40_u32.to_le_bytes());
        image[0x44..0x46].copy_from_slice(&machine.to_le_bytes());
        image.extend(packed);
        image
    }

    #[test]
    fn images_that_boot_have_an_architecture() {
        assert_eq!(recognise(&bzimage(1)), Ok(Arch::X86_64));
        assert_eq!(recognise(&arm64()), Ok(Arch::Arm64));
        assert_eq!(recognise(&gzipped(&arm64())), Ok(Arch::Arm64));
        assert_eq!(recognise(&zboot(0xaa64)), Ok(Arch::Arm64));
    }

    #[test]
    fn what_is_no_image_is_said_in_words() {
        let mut riscv = vec![0; 64];
        riscv[0x30..0x35].copy_from_slice(b"RISCV");
        for (bytes, what) in [
            (bzimage(0), "32-bit x86"),
            (bzimage(1)[..0x421].to_vec(), "cut short"),
            (zboot(0x5064), "RISC-V"),
            (zboot(0xaa64)[..140].to_vec(), "cut short"),
            (riscv, "RISC-V"),
            (gzipped(b"notes"), "without an arm64 kernel"),
            (b"\x7fELF\x02\x01".to_vec(), "vmlinux"),
            (b"#!/bin/sh\n".to_vec(), "no kernel image"),
            (Vec::new(), "no kernel image"),
        ] {
            let refused = recognise(&bytes).expect_err(what);
            assert!(refused.contains(what), "{refused}: {what}");
        }
    }

    #[test]
    fn the_release_is_the_kernels_own() {
        let release = |arch, image: &[u8]| release(arch, image, Some(image));
        assert_eq!(
            release(Arch::X86_64, &bzimage(1)).as_deref(),
            Some("7.3.4-me")
        );
        assert_eq!(
            release(Arch::Arm64, &arm64()).as_deref(),
            Some("7.3.4-own+")
        );
        assert_eq!(release(Arch::Arm64, &[0; 100]), None);
        assert_eq!(release(Arch::X86_64, &[0; 100]), None);
    }
}
