import { after } from 'node:test';

/**
 * Preloaded into every test file: if active resources keep the process of a file alive after its tests, it prints them and fails,
 * instead of blocking the whole run.
 */
const graceMs = Number(new URL(import.meta.url).searchParams.get('graceMs') ?? 60_000);

// The parent process of the files preloads it too and has no tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => {
    setTimeout(() => {
      const resources = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`the tests of this file have ended, but active resources keep it alive: ${resources}\n`);
      process.exit(1);
    }, graceMs).unref();
  });
}
