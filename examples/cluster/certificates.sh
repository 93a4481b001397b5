#!/usr/bin/env bash
# Makes an authority, and a certificate that it has signed, for the workers and drivers of a trial:
#   examples/cluster/certificates.sh FOLDER NAME...
# FOLDER gets ca.crt, tls.crt and tls.key. The NAMEs are those by which workers are asked. In production an authority of your
# own (cert-manager, Vault) makes these three files, and the key of the authority is not beside them.
set -euo pipefail
folder=$1
shift
names=$(printf ',DNS:%s' "$@")
mkdir -p "$folder"
cd "$folder"
umask 077
key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${key[@]}" -days 365 -keyout ca.key -out ca.crt -subj "/CN=anonsql trial" 2>/dev/null
openssl req "${key[@]}" -keyout tls.key -out request -subj "/CN=anonsql worker" 2>/dev/null
openssl x509 -req -in request -days 365 -CA ca.crt -CAkey ca.key -CAcreateserial -out tls.crt \
    -extfile <(echo "subjectAltName=${names#,}") 2>/dev/null
rm -f request ca.key ca.srl
chmod 644 ca.crt tls.crt
