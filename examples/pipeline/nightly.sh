#!/usr/bin/env bash
# One night: the Delta table of the people becomes the next version of the Delta table that may be shared.
#
#   SOURCE=s3://lake/people TARGET=s3://lake/people_k5 LOG=json ./nightly.sh
#
# Exit codes, for a scheduler. After each but 0 the table has the release of the night before, or none:
#   0  released, and verified
#   1  the same command fails again: a statement or a schema that does not fit, no permission
#   3  no release of tonight's people satisfies the models
#   4  a check of the release failed: do not pass it on
#   5  the target is something else than a release of this job
#   6  run it again later: a store does not answer, or another run finished first
#   7  check the data: columns or values of tonight's people drifted
# After any of them, or a kill, the same command can be run again. Standard error says what happened.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${SOURCE:?the Delta table of the people}" "${TARGET:?the Delta table of the release}"
again_later=6

anonsql() {
    "${ANONSQL:-anonsql}" --init "$here/hierarchies.sql" ${LOG:+--log "$LOG"} --format ndjson \
        -v "source=$SOURCE" -v "target=$TARGET" "$@"
}

# Every night but the first applies the levels of the night before, and stops at drift.
code=0
said="$(anonsql -c 'SELECT count(*) FROM $target' 2>&1 >/dev/null)" || code=$?
if [ "$code" -eq 0 ]; then
    anonsql "$here/night.sql"
elif [ "$code" -eq "$again_later" ] || [ "$code" -gt 128 ]; then
    # Whether there is a table is not known.
    printf '%s\n' "$said" >&2
    exit "$code"
else
    # The first night searches for the levels. Where a release stands after all, this night is not the first.
    outcome="$(anonsql "$here/first.sql")"
    case "$outcome" in
    *'"outcome":"kept'*) anonsql "$here/night.sql" ;;
    *) printf '%s\n' "$outcome" ;;
    esac
fi
# What another program reads is recounted from the table itself.
anonsql --strict "$here/verify.sql"
