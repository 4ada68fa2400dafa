# shellcheck shell=bash
# What scripts/dist.sh packs, step by step. Reads dist, target, version, deb, cyclonedx.

# share FROM TO: manual and completions.
share() {
    local from=$1 to=$2 program
    mkdir -p "$to/man/man1" "$to/bash" "$to/zsh" "$to/fish"
    for program in wakeplace scx_wakeplace; do
        "$from/$program" man "$to/man/man1"
        "$from/$program" completions bash >"$to/bash/$program"
        "$from/$program" completions zsh >"$to/zsh/_$program"
        "$from/$program" completions fish >"$to/fish/$program.fish"
    done
    gzip -n9 "$to/man/man1"/*
}

# split_debug ARCH: programs without symbols into dist-files/ARCH, and beside them what a debugger
# reads.
split_debug() {
    local arch=$1 program prefix='' to=$target/dist-files/$1
    [ "$arch" != arm64 ] || prefix=aarch64-linux-gnu-
    mkdir -p "$to"
    for program in wakeplace wakeplace-bpf-load scx_wakeplace; do
        local from=$target/lab/dist-$arch/$program
        "${prefix}objcopy" --only-keep-debug "$from" "$to/$program.debug"
        "${prefix}objcopy" --strip-all "$from" "$to/$program"
        (cd "$to" && "${prefix}objcopy" --add-gnu-debuglink="$program.debug" "$program")
    done
}

# tarball NAME FOLDER: FOLDER/NAME as NAME.tar.gz, the same bytes whenever it is made.
tarball() {
    tar -C "$2" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX -c "$1" | gzip -n9 >"$dist/$1.tar.gz"
}

# archives ARCH: one to unpack anywhere, one for debuggers.
archives() {
    local arch=$1 name=wakeplace-$version-$1-linux from=$target/dist-files/$1
    local tree=$target/dist-files/tree-$arch/$name
    mkdir -p "$tree/bin" "$tree-debug"
    cp "$from/wakeplace" "$from/wakeplace-bpf-load" "$from/scx_wakeplace" "$tree/bin/"
    cp -r "$target/dist-files/share" "$tree/share"
    cp -r LICENSE LICENSES README.md CHANGELOG.md packaging "$tree/"
    cp "$from"/*.debug "$tree-debug/"
    tarball "$name" "$target/dist-files/tree-$arch"
    tarball "$name-debug" "$target/dist-files/tree-$arch"
}

# packages ARCH: Debian's. cargo-deb finds what goes in at one place for all machines.
packages() {
    local arch=$1 files=$PWD/target/dist-files/deb triple=x86_64-unknown-linux-gnu package
    [ "$arch" != arm64 ] || triple=aarch64-unknown-linux-gnu
    rm -rf "$files"
    mkdir -p "$files"
    cp "$target/dist-files/$arch"/{wakeplace,wakeplace-bpf-load,scx_wakeplace} "$files/"
    cp -r "$target/dist-files/share" "$files/share"
    # A package's programs are in /usr/bin, those of an administrator in /usr/local/bin.
    sed 's|/usr/local/bin/|/usr/bin/|' packaging/scx_wakeplace.service \
        >"$files/scx_wakeplace.service"
    for package in wakeplace-cli wakeplace-scx; do
        "$deb" --quiet --no-build --no-strip --package "$package" \
            --target "$triple" --output "$dist"
    done
}

# What each program is made of.
bill_of_materials() {
    local package name
    for package in cli scx; do
        name=wakeplace
        [ "$package" = cli ] || name=scx_wakeplace
        "$cyclonedx" cyclonedx --manifest-path "crates/$package/Cargo.toml" --format json \
            --quiet --override-filename "$name-$version"
        mv "crates/$package/$name-$version.json" "$dist/$name-$version.cdx.json"
        # Its references to crates of ours begin with the folder they were built in.
        sed -i "s|path+file://$PWD|path+file://.|g" "$dist/$name-$version.cdx.json"
        find crates xtask fuzz -name "$name-$version.json" -delete
    done
}

# Each crate as its registry would have it. That they build from these files is in nightly.
sources() {
    rm -rf "$dist/crates" "$target/package"
    cargo package --locked --workspace --quiet --no-verify \
        --exclude wakeplace-python --exclude wakeplace-wasm --exclude wakeplace-fuzz --exclude xtask
    mkdir -p "$dist/crates"
    cp "$target"/package/*.crate "$dist/crates/"
}
