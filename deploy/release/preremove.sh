#!/bin/sh
# Before the package is removed: stops its services. dpkg says "remove", and rpm the number of versions that remain. An upgrade stops nothing.
set -e
case "$1" in
  remove | 0)
    if [ -d /run/systemd/system ]; then systemctl disable --now muster-server.service muster-provisioner.service muster-backup.timer || true; fi
    ;;
esac
