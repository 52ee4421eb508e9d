#!/bin/sh
# Adds what some tests need from the system, only where it is missing and we may: bubblewrap and Chromium.
# Never fails by itself: a test whose part is missing is skipped with a reason, and fails where CI is set.
set -u

missing=""
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "not installed, and not ours to install here:$missing (the tests that need them are skipped)"
    exit 0
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq || true
# shellcheck disable=SC2086
apt-get install -qq -y --no-install-recommends $missing || echo "could not install:$missing"
exit 0
