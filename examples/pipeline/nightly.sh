#!/usr/bin/env bash
# One night: the Delta table of the people becomes the next version of the Delta table that may be shared.
#
#   SOURCE=s3://lake/people TARGET=s3://lake/people_k5 LOG=json ./nightly.sh
#
# Exit codes, for a scheduler:
#   0  released, and verified
#   1  drift of columns or values, or an error: standard error says which; the table has the release of the night before
#   3  no release of tonight's people satisfies the models: as above
#   4  a check of the release failed: do not pass it on
#   5  another run was first: nothing to do
# After any of them, or a kill, the same command can be run again.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${SOURCE:?the Delta table of the people}" "${TARGET:?the Delta table of the release}"

anonsql() {
    "${ANONSQL:-anonsql}" --init "$here/hierarchies.sql" ${LOG:+--log "$LOG"} --format ndjson \
        -v "source=$SOURCE" -v "target=$TARGET" "$@"
}

if anonsql -c 'SELECT count(*) FROM $target' >/dev/null 2>&1; then
    # Every night but the first applies the levels of the night before, and stops at drift.
    anonsql "$here/night.sql"
else
    # The first night searches for the levels. A table that is there after all is kept.
    anonsql "$here/first.sql"
fi
# What another program reads is recounted from the table itself.
anonsql --strict "$here/verify.sql"
