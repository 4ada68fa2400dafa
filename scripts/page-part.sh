#!/bin/sh
# Replaces what a page has measured: page-part.sh PAGE PART SCRIPT puts the file PART between the
# page's marks `<!-- measured: SCRIPT -->` and the next `<!-- end -->`, and removes PART.
set -eu
page=$1 part=$2 script=$3
grep -qxF "<!-- measured: $script -->" "$page" || {
    printf 'page-part: %s has no line `<!-- measured: %s -->`\n' "$page" "$script" >&2
    exit 2
}
awk -v part="$part" -v mark="<!-- measured: $script -->" '
    /^<!-- end -->$/ { skip = 0 }
    !skip { print }
    $0 == mark { while ((getline text < part) > 0) print text; print ""; skip = 1 }
' "$page" >"$page.whole"
mv "$page.whole" "$page"
rm "$part"
