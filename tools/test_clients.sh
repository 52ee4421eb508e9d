#!/bin/sh
# Installs the agent CLIs that the tests run, at the versions of the lock file. Native programs come inside the packages
# and are run directly, so no install script is needed; npm's warnings about the Node version do not concern those.
# Without npm the tests that need them are skipped with a reason (and fail where CI is set), so this never fails by itself.
set -u
cd "$(dirname "$0")/../tests/clients" || exit 1

if ! command -v npm >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing npm"
    DEBIAN_FRONTEND=noninteractive apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y npm
fi
if ! command -v npm >/dev/null 2>&1; then
    echo "npm is missing: the tests with real agent CLIs will be skipped (install Node.js, then make test)"
    exit 0
fi
if npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
    touch node_modules/.installed
else
    echo "npm ci failed: the tests with real agent CLIs will be skipped"
fi
exit 0
