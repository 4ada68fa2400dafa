#!/usr/bin/env bash
# Makes pages and opens them in a real browser: nothing may be loaded, said on the console or wider
# than the window, and every chart must be drawn. No script that is not the page's own may run: each
# page is looked at with three that somebody put into it. Screenshots at two widths, light and dark.
#
#   scripts/report-check.sh [PROGRAM [FOLDER]]
#
# PROGRAM: the wakeplace to use (target/release/wakeplace); FOLDER: where pages and pictures go (one
# that is removed). REPORT_QUICK=1: each page twice only. Exit code 3: no browser here.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-target/release/wakeplace}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder=${2:-$scratch/out}
mkdir -p "$folder"

browser=
for name in chromium chromium-browser google-chrome chrome; do
    if command -v "$name" >/dev/null; then
        browser=$name
        break
    fi
done
if [ -z "$browser" ]; then
    printf '**** SKIPPED: no browser here (apt-get install chromium): no page was looked at\n' >&2
    exit 3
fi
"$browser" --version 2>/dev/null
# From here on only a fault ends this: code 3 of the program itself must not look like "no browser".
trap 'code=$?; rm -rf "$scratch"; [ $code != 3 ] || exit 1' EXIT

load='periodic:n=10,period=16ms,duty=5%'
"$program" study run energy-aware/energy-hikey960 --quick --export-html "$folder/study.html" \
    --format json --output "$folder/study.json"
"$program" sim --platform juno-r0 --workload 'periodic:n=8,period=20ms,duty=20%' \
    --policy wakeplace --duration 3s --timeline 500ms..700ms --export-html "$folder/sim.html" \
    >/dev/null
"$program" compare --platform hikey960 --workload "$load" --policy linux-4.17 \
    --policy linux-4.17+energy-aware --duration 2s --timeline 1s..1100ms \
    --export-html "$folder/compare.html" --format json --output "$folder/compare.json"
"$program" report "$folder/compare.json" "$folder/study.json" --output "$folder/both.html"

# Appended to a copy of a page: what the browser made of it, in one line on the console.
script=$(
    cat <<'JS'
const look = (left) => setTimeout(() => {
  const all = (what) => document.querySelectorAll(what);
  const shown = [...all(".drawing")].filter((one) => one.clientWidth > 0);
  const undrawn = shown.filter((one) => !one.querySelector("svg")).length;
  // The first start of a browser is slow: up to 15 s until all is drawn.
  if (undrawn && left) return look(left - 1);
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  console.log("probe " + [
    "width=" + innerWidth,
    "charts=" + shown.length,
    "undrawn=" + undrawn,
    "timelines=" + all(".line").length,
    "empty=" + [...all(".line")].filter((one) => !one.querySelector("canvas")).length,
    "too-wide=" + Math.max(wide, 0),
    "smuggled=" + Object.keys(window).filter((name) => name.startsWith("smuggled")).length,
    "loaded=" + performance.getEntriesByType("resource").map((one) => one.name).join(","),
  ].join(" "));
}, 1000);
addEventListener("load", () => {
  document.getElementById("smuggled").click();
  setTimeout(() => look(10), 4000);
});
JS
)
# The copy lets this script in beside the page's own, and none of these three.
hash=$(printf %s "$script" | openssl dgst -sha256 -binary | base64)
smuggled='<script>window.smuggled1 = 1;</script><img src="data:," onerror="window.smuggled2 = 1">
<a href="javascript:void(window.smuggled3 = 1)" id="smuggled"></a>'

failed=0
# NAME WIDTH HEIGHT THEME(dark|light)
look() {
    local name=$1 width=$2 height=$3 theme=$4 scheme=1 picture said
    [ "$theme" = dark ] && scheme=0
    picture=$folder/$name-$width-$theme.png
    sed "s|script-src |&'sha256-$hash' |; T; n" "$folder/$name.html" >"$scratch/$name.html"
    printf '%s<script>%s</script>' "$smuggled" "$script" >>"$scratch/$name.html"
    # A window is never narrower than 500 pixels: a phone is a frame in one.
    printf '<html style="color-scheme:light dark"><body style="margin:0"><iframe src="%s.html"
        style="border:0;width:%spx;height:%spx"></iframe>' "$name" "$width" "$height" \
        >"$scratch/frame.html"
    local probe tries refused
    # The browser's time runs ahead of a busy machine: a page whose charts are not drawn by its end
    # is looked at again. One that does not draw them fails each time.
    for tries in 1 2 3; do
        timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
            --no-first-run --disable-background-networking --disable-component-update \
            --user-data-dir="$scratch/profile" --host-resolver-rules='MAP * ~NOTFOUND' \
            --blink-settings=preferredColorScheme=$scheme --window-size="$width,$height" \
            --enable-logging=stderr --virtual-time-budget=20000 --screenshot="$picture" \
            "file://$scratch/frame.html" >"$scratch/log" 2>&1 || true
        rm -rf "$scratch/profile"
        said=$(grep 'CONSOLE' "$scratch/log" | grep -v '"probe ' || true)
        refused=$(grep -c 'Content Security Policy directive' <<<"$said" || true)
        said=$(grep -v 'Content Security Policy directive' <<<"$said" || true)
        probe=$(grep -o '"probe [^"]*' "$scratch/log" | head -n 1 || true)
        case $probe in *" undrawn=0 "*) break ;; esac
        printf '**** %s: not drawn, try %s of 3\n' "$name" "$tries" >&2
    done
    printf '%-8s %5s px %-5s %s\n' "$name" "$width" "$theme" "${probe#\"probe }"
    case $probe in
        *" undrawn=0 "*" empty=0 too-wide=0 smuggled=0 loaded=") ;;
        *)
            printf '  NOT as it must be: all drawn, nothing too wide, smuggled or loaded\n' >&2
            failed=1
            ;;
    esac
    if [ "$refused" != 3 ]; then
        printf '  the browser refused %s things of the page; expected the 3 smuggled ones\n' \
            "$refused" >&2
        failed=1
    fi
    if [ -n "$said" ]; then
        printf '  on the console:\n%s\n' "$said" >&2
        failed=1
    fi
}

for name in study sim compare both; do
    height=9000
    [ "$name" = both ] && height=16000
    look "$name" 1280 $height light
    look "$name" 390 $height dark
    if [ -z "${REPORT_QUICK:-}" ]; then
        look "$name" 1280 $height dark
        look "$name" 390 $height light
        look "$name" 360 $height light
    fi
done
if [ $failed != 0 ]; then
    printf 'report-check: something is wrong (see above)\n' >&2
    exit 1
fi
echo "report-check: all pages as they must be"
