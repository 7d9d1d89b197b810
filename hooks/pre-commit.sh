#!/bin/sh
# @MARK@
# Checks the staged pages of the wiki. Only findings stop the commit: a missing, failing or slow program does not.
# `git memory hooks uninstall` takes it out.
event=@EVENT@
legacy=@LEGACY@
limit=10
# The hook that stood here before comes first, and its refusal is the last word.
if [ "$legacy" = yes ] && [ -x "$0.legacy" ] && [ -z "${GIT_MEMORY_HOOK_PROBE-}" ]; then
    "$0.legacy" "$@" || exit
fi
[ "${GIT_MEMORY_HOOK-}" = 0 ] && exit 0
binary=@BINARY@
[ -x "$binary" ] || binary=$(command -v git-memory) || exit 0
if command -v timeout >/dev/null 2>&1; then
    timeout -k 1 "$limit" "$binary" hook "$event" "$@" </dev/null
    status=$?
else
    "$binary" hook "$event" "$@" </dev/null &
    work=$!
    {
        trap 'kill "$nap" 2>/dev/null; exit 0' TERM
        sleep "$limit" &
        nap=$!
        wait "$nap"
        kill -9 "$work" 2>/dev/null
    } </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
    watch=$!
    wait "$work" 2>/dev/null
    status=$?
    kill "$watch" 2>/dev/null
fi
[ "$status" -eq 1 ] && exit 1
exit 0
