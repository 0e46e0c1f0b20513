#!/bin/sh
# After an installation or upgrade of the package: creates the user and folders. Running servers keep the old program until they are restarted.
set -e
if command -v systemd-sysusers >/dev/null; then systemd-sysusers muster.conf; fi
if command -v systemd-tmpfiles >/dev/null; then systemd-tmpfiles --create muster.conf; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
