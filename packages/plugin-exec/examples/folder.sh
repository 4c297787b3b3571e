#!/bin/sh
# Instances that are files: one each, holding the requests that made it what it is. POSIX sh and no JSON parser.
set -eu

fail() { # <exit code> <sentence>
  echo "$2" >&2
  exit "$1"
}

dir=${INFRAKIT_STATE_DIR:?is where the files are kept}
mkdir -p "$dir"

# The file of the instance asked for; an id never leads out of the folder.
file() {
  case ${INFRAKIT_ID:-} in
    '' | .* | */*) fail 11 "there is no instance ${INFRAKIT_ID:-}" ;;
  esac
  [ -f "$dir/$INFRAKIT_ID" ] || fail 11 "there is no instance $INFRAKIT_ID"
  echo "$dir/$INFRAKIT_ID"
}

case ${1:-} in
  validate) ;;
  provision)
    key=${INFRAKIT_IDEMPOTENCY_KEY:-none}
    case $key in *[!A-Za-z0-9_-]*) fail 10 'a key must be letters, digits, _ and -' ;; esac
    if [ "$key" != none ]; then
      for made in "$dir/$key".*; do
        # The living instance that was made for this key.
        [ -f "$made" ] && printf '{"id":"%s"}\n' "${made##*/}" && exit
      done
    fi
    new=$(mktemp "$dir/.new.XXXXXXXXXX")
    cat >"$new"
    id=$key.${new##*.}
    mv "$new" "$dir/$id" # Whole or not at all.
    printf '{"id":"%s"}\n' "$id"
    ;;
  label)
    file=$(file)
    new=$(mktemp "$dir/.new.XXXXXXXXXX")
    cat "$file" - >"$new"
    mv "$new" "$file"
    ;;
  destroy)
    file=$(file)
    rm "$file"
    ;;
  describe)
    printf '{"instances":['
    comma=
    for file in "$dir"/*; do
      [ -f "$file" ] || continue
      # Requests: the plugin works out tags, logical id and properties from them.
      requests=
      while IFS= read -r request; do requests=$requests${requests:+,}$request; done <"$file" || continue
      printf '%s{"ID":"%s","Requests":[%s]}' "$comma" "${file##*/}" "$requests"
      comma=,
    done
    printf ']}\n'
    ;;
  *) fail 1 "unknown verb ${1:-}" ;;
esac
