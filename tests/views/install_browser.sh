#!/bin/sh
# Install Debian's Chromium without windows, as root or with a sudo that asks for no password, where there is no browser,
# and in CI, because it shows a page in half the time of the others. Without a browser the tests that need one are skipped.
names="chromium-headless-shell"
[ -n "${CI:-}" ] || names="$names chromium chromium-browser google-chrome"
for name in $names; do
    command -v "$name" > /dev/null 2>&1 && exit 0
done
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "$1" fonts-dejavu-core > /dev/null 2>&1
}
echo "Installing Chromium ..."
# Other distributions have the one with windows only.
install chromium-headless-shell || { $as_root apt-get update -qq > /dev/null 2>&1 && install chromium-headless-shell; } ||
    install chromium || echo "Chromium could not be installed: apt-get install chromium-headless-shell."
