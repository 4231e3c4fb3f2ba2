#!/bin/sh
# Installs the workbook from this folder, without the network, and opens lesson 00.
set -eu
cd "$(dirname "$0")"
if [ ! -f env/ready ]; then
  found=
  for python in python@PYTHON@ python3 python; do
    if "$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "@PYTHON@")' 2>/dev/null; then
      found=$python
      break
    fi
  done
  if [ -z "$found" ]; then
    echo "This needs Python @PYTHON@. Install it, then start this again."
    exit 1
  fi
  echo "Installing into $PWD/env: about a minute, once."
  rm -rf env
  "$found" -m venv env
  env/bin/python -m pip install --isolated --disable-pip-version-check -q --no-index --no-deps -r requirements.txt
  touch env/ready
fi
exec env/bin/workbook lab "$@"
