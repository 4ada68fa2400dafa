#!/bin/sh
# Replaces what a page has measured: page-part.sh PAGE PART puts the file PART between the page's
# marks `<!-- measured: ... -->` and `<!-- end -->`, and removes PART.
set -eu
page=$1 part=$2
awk -v part="$part" '
    /^<!-- end -->$/ { skip = 0 }
    !skip { print }
    /^<!-- measured: / { while ((getline text < part) > 0) print text; print ""; skip = 1 }
' "$page" >"$page.whole"
mv "$page.whole" "$page"
rm "$part"
