#!/bin/sh
# GHDL comes from the system's packages: there is none on PyPI.
set -u
sudo=
[ "$(id -u)" = 0 ] || sudo='sudo -n'
if command -v apt-get >/dev/null && { $sudo apt-get install -y -qq ghdl >/dev/null 2>&1 ||
    { $sudo apt-get update -qq >/dev/null 2>&1 && $sudo apt-get install -y -qq ghdl >/dev/null 2>&1; }; }; then
    exit 0
fi
echo "GHDL is missing: install it (Debian and Ubuntu: apt-get install ghdl); its tests are skipped, or fail with REQUIRE_HDL=1" >&2
exit 0
