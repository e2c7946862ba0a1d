#!/bin/sh
# Make sure of a Chromium: on Debian as root, or with a sudo that asks for no password. Says so where it cannot be had;
# the tests that need it are then skipped.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" > /dev/null 2>&1 && exit 0
done
if ! command -v apt-get > /dev/null 2>&1; then
    echo "No Chromium here, and no apt-get to install it with."
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2> /dev/null; then
        echo "No Chromium here, and no right to install it: apt-get install chromium."
        exit 0
    fi
    as_root="sudo -n"
fi
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium > /dev/null 2>&1; }
echo "Installing Chromium ..."
install || { $as_root apt-get update -qq > /dev/null 2>&1 && install; } || echo "Chromium could not be installed."
exit 0
