# shellcheck shell=bash
# What this machine says about where packages come from. Sourced by install.sh and lock.sh.

# Where pip was told of a certificate authority of one's own, uv should trust it too.
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"

# Large wheels over slow lines need more than uv's 30 seconds without an answer.
export UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-300}"

# torch_source TAG: print, one a line, the uv options that say where torch's CPU build comes from.
#
# A folder named by PIP_FIND_LINKS that holds the wheel for this Python (TAG such as cp311) serves it, for machines
# that reach nothing but a Python package index. Otherwise it comes from PyTorch's own CPU index; TORCH_BACKEND
# names another of uv's --torch-backend values.
torch_source() {
  local tag="$1" place
  for place in ${PIP_FIND_LINKS:-}; do
    place="${place#file://}"
    if compgen -G "$place/torch-*+cpu-$tag-*.whl" >/dev/null; then
      printf '%s\n' --find-links "$place"
      return
    fi
  done
  printf '%s\n' --torch-backend "${TORCH_BACKEND:-cpu}"
}
