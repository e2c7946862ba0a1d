#!/bin/sh
# Make sure of a browser: on Debian as root, or with a sudo that asks for no password, its Chromium without windows, which
# shows a page in half the time. CI gets that one even where there is another. Says so where none can be had; the tests
# that need it are then skipped.
found=""
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null 2>&1; then
        found="$name"
        break
    fi
done
if [ "$found" = chromium-headless-shell ] || { [ -n "$found" ] && [ -z "${CI:-}" ]; }; then
    exit 0
fi
missing() {
    [ -n "$found" ] || echo "No Chromium here, and $1."
    exit 0
}
command -v apt-get > /dev/null 2>&1 || missing "no apt-get to install it with"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2> /dev/null || missing "no right to install it: apt-get install chromium-headless-shell"
    as_root="sudo -n"
fi
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "$1" fonts-dejavu-core > /dev/null 2>&1
}
echo "Installing Chromium ..."
install chromium-headless-shell && exit 0
$as_root apt-get update -qq > /dev/null 2>&1
# Other distributions have the one with windows only.
install chromium-headless-shell || install chromium || missing "it could not be installed"
exit 0
