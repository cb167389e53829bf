/**
 * How the process is started: bin/metal-operator is generated from it, and the container image has it as entry point and
 * environment. Reasons: docs/decisions/0057-memory-use-under-load.md.
 */
export const startSettings = {
  nodeFlags: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', '--heap-growing-percent=25'],
  environment: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' },
} as const;
