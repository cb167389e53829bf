import { after } from 'node:test';

/**
 * Preloaded into every test file: a file whose tests are over, and which something keeps alive, says by what and fails,
 * instead of holding up the whole run.
 */
const graceMs = Number(new URL(import.meta.url).searchParams.get('graceMs') ?? 60_000);

// The process that starts the files preloads it too, and has no tests of its own.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => {
    setTimeout(() => {
      const resources = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`the tests of this file are over, and it is kept alive by: ${resources}\n`);
      process.exit(1);
    }, graceMs).unref();
  });
}
